amsp_family(workloads strategies "const StrategyPreset*" strategy workloads/strategy.hpp
  all_strategy_presets)
