// How a thread of the engine runs the nodes of a graph.
#pragma once

#include "core/autograd/engine/graph_task.h"

namespace slotcore::autograd {

// Where this thread is.
struct EngineThread {
  int device;                // the device that it serves, or kNoDevice
  int depth;                 // of the backward whose node it runs, or 0
  int backwards;             // those on its stack
  bool frees_graph = false;  // whether that backward frees what its nodes have saved

  static EngineThread& current() noexcept;
};

// Runs the tasks of the caller's queue until the backward is complete. What its nodes throw is kept
// for its result().
void run_until_complete(GraphTask& graph);
// The same on a thread of its own, which replaces this one meanwhile. Throws system_error when no
// thread can start.
void run_on_new_thread(GraphTask& graph);
// The body of a device's thread: runs the tasks of `queue` until it ends.
void serve_device(int device, TaskQueue& queue) noexcept;

}  // namespace slotcore::autograd
