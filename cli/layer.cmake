amsp_family(cli commands "std::unique_ptr<Command>" command cli/command.hpp all_commands)
