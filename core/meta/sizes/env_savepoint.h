// EnvSavepoint: removes what is added to an environment, unless it is kept.
#pragma once

#include "core/meta/sizes/shared_env.h"

namespace slotcore::meta {

class EnvSavepoint {
 public:
  explicit EnvSavepoint(EnvPtr env) : env_(std::move(env)) {
    std::lock_guard lock(env_->mutex);
    before_ = after_ = env_->env;
  }
  // What was added stays if something was decided meanwhile, here or on another thread.
  ~EnvSavepoint() {
    if (is_kept_) return;
    std::lock_guard lock(env_->mutex);
    if (env_->env.is_as_large_as(after_)) env_->env = std::move(before_);
  }
  EnvSavepoint(const EnvSavepoint&) = delete;
  EnvSavepoint& operator=(const EnvSavepoint&) = delete;

  // All that the environment has now is of this savepoint. The mutex is held.
  void note() { after_ = env_->env; }
  void keep() noexcept { is_kept_ = true; }

 private:
  const EnvPtr env_;
  ShapeEnv before_, after_;
  bool is_kept_ = false;
};

}  // namespace slotcore::meta
