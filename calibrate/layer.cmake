amsp_family(calibrate algorithms "std::unique_ptr<CollectiveAlgorithm>" algorithm
  calibrate/collective_algorithm.hpp make_collective_algorithms)
amsp_family(calibrate logs/formats LogFormat log_format calibrate/logs/log_format.hpp log_formats)
