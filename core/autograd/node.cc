// Edges, hooks and the end of a node.

#include "core/autograd/node.h"

#include <algorithm>

#include "core/autograd/current_device.h"
#include "core/c10/check.h"
#include "core/c10/live_counts.h"
#include "core/c10/trace.h"

namespace slotcore::autograd {
namespace {

uint64_t next_sequence_nr() noexcept {
  static constinit thread_local uint64_t next = 0;
  return next++;
}

}  // namespace

Edge::Edge() noexcept = default;
Edge::Edge(intrusive_ptr<Node> node, uint32_t input_nr) noexcept
    : node(std::move(node)), input_nr(input_nr) {}
Edge::Edge(const Edge&) noexcept = default;
Edge::Edge(Edge&&) noexcept = default;
Edge& Edge::operator=(Edge other) noexcept {
  std::swap(node, other.node);
  input_nr = other.input_nr;
  return *this;
}
Edge::~Edge() = default;

Node::Node() : Node(next_sequence_nr(), CurrentDevice::get()) {}

Node::Node(uint64_t sequence_nr, int device) : sequence_nr_(sequence_nr), device_(device) {
  live_nodes.add();
}

Node::~Node() {
  trace("impl freed", {"impl", this});
  live_nodes.remove();
}

void Node::release_resources() noexcept {
  trace("references released", {"owner", this});
  // Moved out first: a release may run code that looks at this node.
  std::vector<Edge> edges = std::move(next_edges_);
  std::unique_ptr<NodeHooks> hooks = std::move(hooks_);
  std::shared_ptr<NodeMetadata> metadata = std::move(metadata_);
  next_edges_.clear();
  // Weak references may keep the memory of this node, which must own no mode and no
  // environment (M8).
  for (InputMetadata& input : inputs_) input = {};
}

void Node::visit_owned(OwnedVisitor& visitor) const {
  for (const Edge& edge : next_edges_) {
    if (edge.node) visitor.node(".next_functions", edge.node.get());
  }
  if (metadata_) visitor.object(".metadata", metadata_->python_object());
  if (!hooks_) return;
  auto visit = [&](const auto& hook) {
    if (PyObject* object = hook->python_object()) visitor.object("hooks", object);
  };
  for (const auto& hook : hooks_->of_tensors) visit(hook.second);
  for (const auto& hook : hooks_->before) visit(hook);
  for (const auto& hook : hooks_->after) visit(hook);
}

void Node::set_next_edges(std::vector<Edge> edges) {
  next_edges_ = std::move(edges);
  if (!trace_is_on()) [[likely]]
    return;
  trace("impl created", {"impl", this}, {"type", name().c_str()});
  for (const Edge& edge : next_edges_) {
    if (!edge.node) continue;
    trace("reference taken", {"owner", this}, {"owned", edge.node.get()},
          {"link", ".next_functions"});
  }
}

std::span<const Edge> Node::next_edges() const noexcept { return next_edges_; }

bool Node::needs(size_t edge) const noexcept {
  SLOTCORE_CHECK(edge < next_edges_.size());
  return static_cast<bool>(next_edges_[edge].node);
}

InputMetadata::InputMetadata(const TensorImpl& tensor)
    : type(tensor.type()), place(tensor.place()) {
  if (tensor.is_symbolic()) {
    sym_sizes = std::make_shared<const SymDims>(tensor.sym_layout().sizes);
  } else {
    plain_sizes = tensor.sizes();
  }
}

bool InputMetadata::is_of(const TensorImpl& tensor) const noexcept {
  if (type != tensor.type() || place != tensor.place()) return false;
  return sym_sizes != nullptr || tensor.is_symbolic() || plain_sizes == tensor.sizes();
}

uint32_t Node::add_input(const TensorImpl& output) {
  inputs_.emplace_back(output);
  return static_cast<uint32_t>(inputs_.size() - 1);
}

void Node::release_objects() noexcept { auto metadata = std::move(metadata_); }

std::shared_ptr<NodeMetadata> Node::metadata() const {
  std::lock_guard lock(mutex_);
  return metadata_;
}

std::shared_ptr<NodeMetadata> Node::set_metadata_once(std::shared_ptr<NodeMetadata> metadata) {
  std::lock_guard lock(mutex_);
  if (!metadata_) metadata_ = metadata;
  return metadata_;
}

NodeHooks Node::hooks() const {
  std::lock_guard lock(mutex_);
  return hooks_ ? *hooks_ : NodeHooks{};
}

void Node::add_hook_of_tensor(uint32_t input_nr, std::shared_ptr<FunctionPreHook> hook) {
  std::lock_guard lock(mutex_);
  if (!hooks_) hooks_ = std::make_unique<NodeHooks>();
  hooks_->of_tensors.emplace_back(input_nr, std::move(hook));
}

void Node::add_hook_before(std::shared_ptr<FunctionPreHook> hook) {
  std::lock_guard lock(mutex_);
  if (!hooks_) hooks_ = std::make_unique<NodeHooks>();
  hooks_->before.push_back(std::move(hook));
}

void Node::add_hook_after(std::shared_ptr<FunctionPostHook> hook) {
  std::lock_guard lock(mutex_);
  if (!hooks_) hooks_ = std::make_unique<NodeHooks>();
  hooks_->after.push_back(std::move(hook));
}

void Node::set_retaining_hook(uint32_t input_nr, std::shared_ptr<FunctionPreHook> hook) {
  auto former = take_retaining_hook(input_nr);  // dropped after the lock
  if (!hook) return;
  std::lock_guard lock(mutex_);
  if (!hooks_) hooks_ = std::make_unique<NodeHooks>();
  hooks_->retaining.emplace_back(input_nr, std::move(hook));
}

std::shared_ptr<FunctionPreHook> Node::take_retaining_hook(uint32_t input_nr) {
  std::lock_guard lock(mutex_);
  if (!hooks_) return nullptr;
  auto& all = hooks_->retaining;
  auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == input_nr; });
  if (found == all.end()) return nullptr;
  std::shared_ptr<FunctionPreHook> hook = std::move(found->second);
  all.erase(found);
  return hook;
}

}  // namespace slotcore::autograd
