#include "analyzer/ingest/kineto_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/core/text.hpp"
#include "analyzer/ingest/kineto_event.hpp"
#include "analyzer/ingest/kineto_number.hpp"
#include "analyzer/ingest/kineto_text.hpp"

namespace traceweir::ingest {
namespace {

constexpr std::size_t fact_bytes_max = 64;

constexpr std::string_view scalar_keys[] = {"schemaVersion",       "baseTimeNanoseconds", "cuda_runtime_version",
                                            "cuda_driver_version", "hip_runtime_version", "hip_driver_version",
                                            "pytorch_version",     "torch_version"};
constexpr std::string_view devices_key = "deviceProperties";
constexpr std::string_view distributed_key = "distributedInfo";

bool is_scalar_key(std::string_view key) {
  return std::find(std::begin(scalar_keys), std::end(scalar_keys), key) != std::end(scalar_keys);
}

}  // namespace

bool KinetoHeader::wants(std::string_view key) {
  return key == devices_key || key == distributed_key || is_scalar_key(key);
}

bool KinetoHeader::take(std::string_view key, std::string_view json) {
  if (key == devices_key) {
    auto devices = device_names_of(json);
    if (!devices) return false;
    for (auto& [ordinal, name] : *devices) gpus_[ordinal] = std::move(name);
    return true;
  }
  if (key == distributed_key) {
    const auto info = distributed_info_of(json);
    if (!info) return false;
    rank_ = info->rank;
    world_size_ = info->world_size;
    nccl_ = clean_text(info->nccl_version, fact_bytes_max);
    return true;
  }
  const bool scalar = !json.empty() && json.front() != '{' && json.front() != '[';
  if (!scalar) return false;
  std::string scratch;
  values_[std::string(key)] = clean_text(string_text(json, scratch).text, fact_bytes_max);
  return true;
}

std::string_view KinetoHeader::gpu(std::int64_t ordinal) const {
  if (const auto found = gpus_.find(ordinal); found != gpus_.end()) return found->second;
  // The list holds the devices that were visible, which need not be those that were used. If all are of one kind, so is
  // this one.
  const auto differs = [&](const auto& entry) { return entry.second != gpus_.begin()->second; };
  const bool one_kind = !gpus_.empty() && std::none_of(gpus_.begin(), gpus_.end(), differs);
  return one_kind ? std::string_view(gpus_.begin()->second) : std::string_view();
}

std::string KinetoHeader::value(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::string() : found->second;
}

std::string KinetoHeader::producer() const {
  const std::string version = value("schemaVersion");
  return version.empty() ? "Kineto" : fmt::format("Kineto, schemaVersion {}", version);
}

timeline::Environment KinetoHeader::environment() const {
  timeline::Environment out;
  out.nccl = nccl_;
  out.cuda = values_.contains("hip_runtime_version") ? hip_version(value("hip_runtime_version"))
                                                     : cuda_version(value("cuda_runtime_version"));
  out.driver = values_.contains("hip_driver_version") ? hip_version(value("hip_driver_version"))
                                                      : cuda_version(value("cuda_driver_version"));
  const std::string torch = value(values_.contains("pytorch_version") ? "pytorch_version" : "torch_version");
  if (!torch.empty())
    out.framework = "PyTorch " + torch;
  else if (values_.contains("schemaVersion"))
    out.framework = "PyTorch";
  return out;
}

std::string cuda_version(std::string_view number) {
  const auto value = integer_of(number);
  if (!value || *value < 1000 || *value > 1'000'000) return std::string(number);
  return fmt::format("{}.{}", *value / 1000, *value % 1000 / 10);
}

std::string hip_version(std::string_view number) {
  const auto value = integer_of(number);
  if (!value || *value < 10'000'000 || *value > 10'000'000'000) return std::string(number);
  return fmt::format("HIP {}.{}.{}", *value / 10'000'000, *value / 100'000 % 100, *value % 100'000);
}

}  // namespace traceweir::ingest
