// Reads requests, and answers each or hands it to the function that does.
#include "harness/engine/serve/serve.h"

#include <iostream>
#include <string>

#include "harness/engine/serve/describe.h"
#include "harness/engine/serve/reply.h"
#include "harness/engine/serve/serve_observations.h"
#include "harness/engine/serve/serve_profile.h"
#include "harness/engine/serve/serve_run.h"
#include "harness/engine/serve/serve_states.h"

namespace slotfuzz {
namespace {

using nlohmann::json;

json answer(Session& session, KeptTraces& traces, const json& request) {
  if (request.contains("states")) return run_states(session, request);
  if (request.contains("run")) return run_program(session, request);
  if (request.contains("observations")) return run_observations(session, traces, request);
  if (request.contains("traces")) return read_traces(traces, request);
  if (request.contains("generate")) return generate(session, request);
  if (request.contains("profile")) return run_profile(session, request);
  if (request.contains("parse")) {
    const std::string text = request.at("parse");
    const Program program = session.printer.parse(text);
    json reply = {{"lines", lines_as_json(session.table, program)}, {"dropped", program.dropped}};
    report_dropped(session, text, request, false, reply);
    return reply;
  }
  if (request.contains("extend")) {
    const Program program = session.printer.parse(request.at("extend").get<std::string>());
    json programs = json::array();
    Rng rng(request.value("seed", 1u));
    for (int i = 0; i < request.value("count", 0); ++i) {
      programs.push_back(session.printer.print(session.mutator.extend(program, rng)));
    }
    return {{"programs", programs}};
  }
  return {{"error", "no such request"}};
}

void reply_with(const json& document) {
  std::cout << document.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
}

}  // namespace

void serve(Session& session, std::string_view target, std::string_view module) {
  KeptTraces traces;
  reply_with({{"ready", true}});
  for (std::string line; std::getline(std::cin, line);) {
    const json request = json::parse(line, nullptr, false);
    if (!request.is_object()) {
      reply_with({{"error", "not a JSON object"}});
    } else if (request.contains("describe")) {
      reply_with(describe(session, target, module));
    } else {
      session.late_imports.learn();
      reply_with(answer(session, traces, request));
    }
  }
}

}  // namespace slotfuzz
