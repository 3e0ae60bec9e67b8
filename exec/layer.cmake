amsp_family(exec backends "std::unique_ptr<Backend>" backend exec/backend.hpp all_backends)
