// SPDX-License-Identifier: Apache-2.0
// Several programs that print into one log at the same time (one test on each node by srun -l or
// pdsh, or a build without MPI under mpirun): their lines are told apart by the launcher's label.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace amsp {

// "3" of "3: …", "1,3" of "[1,3]<stdout>:…", "node-3" of "node-3: …"; "" when there is none.
std::string_view launcher_label(std::string_view raw);

// The labels whose lines hold a header of nccl-tests, in the order of the log; at most 256.
std::vector<std::string> header_labels(std::string_view content);

}  // namespace amsp
