// EnvSavepoint: removes what is added to an environment, unless it is kept.
#pragma once

#include "core/meta/sizes/shared_env.h"

namespace slotcore::meta {

class EnvSavepoint {
 public:
  explicit EnvSavepoint(EnvPtr env) : env_(std::move(env)) {
    std::lock_guard lock(env_->mutex);
    before_ = env_->env;
    after_ = before_.counts();
  }
  // What was added stays if something was decided meanwhile, here or on another thread.
  ~EnvSavepoint() {
    if (is_kept_) return;
    std::lock_guard lock(env_->mutex);
    if (env_->env.counts() == after_) env_->env = std::move(before_);
  }
  EnvSavepoint(const EnvSavepoint&) = delete;
  EnvSavepoint& operator=(const EnvSavepoint&) = delete;

  void keep() noexcept { is_kept_ = true; }

  // What is added while it lives is of this savepoint, also if an exception ends it. It holds the
  // mutex.
  class Adding {
   public:
    explicit Adding(EnvSavepoint& savepoint)
        : savepoint_(savepoint), lock_(savepoint.env_->mutex) {}
    ~Adding() { savepoint_.after_ = savepoint_.env_->env.counts(); }
    Adding(const Adding&) = delete;
    Adding& operator=(const Adding&) = delete;

   private:
    EnvSavepoint& savepoint_;
    const std::lock_guard<std::mutex> lock_;
  };

 private:
  const EnvPtr env_;
  ShapeEnv before_;
  ShapeEnv::Counts after_;
  bool is_kept_ = false;
};

}  // namespace slotcore::meta
