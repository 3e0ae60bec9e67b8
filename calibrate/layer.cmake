amsp_family(calibrate algorithms "std::unique_ptr<CollectiveAlgorithm>" algorithm
  calibrate/collective_algorithm.hpp make_collective_algorithms)
