// SPDX-License-Identifier: Apache-2.0
// A job as text, for ranks on other hosts.
#pragma once
#include <string>

#include "exec/job.hpp"

namespace amsp {

// Schedule, durations and options, exactly; not ExecJob::before_op.
std::string to_text(const ExecJob& job);
// Throws InputError when the text is no job.
ExecJob parse_job(const std::string& text);

}  // namespace amsp
