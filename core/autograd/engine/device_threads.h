// The threads of devices. Each runs the tasks of one queue, which all backwards share. A forked
// process has none of them and starts its own; it must not return into a backward that was running.
#pragma once

#include "core/autograd/engine/node_task.h"

namespace slotcore::autograd {

// The queue of a device. It lives for ever, and its thread starts with the first task.
TaskQueue& queue_of_device(int device);
// Queues a task for the thread of a device, and starts that. False, and the task stays with the
// caller, when the threads have ended, or the system starts no thread.
[[nodiscard]] bool push_to_device(int device, NodeTask& task);
// Runs the tasks that are queued, and ends the threads for ever. The caller holds no lock that
// nodes may wait for, and no GIL.
void end_device_threads() noexcept;

}  // namespace slotcore::autograd
