-- Sends prepared requests in turn: BENCH_METHOD, BENCH_PATHS (a file, one path a line) and
-- BENCH_BODIES (a file, one body a line). Headers come from wrk's -H.
local requests = {}
local turn = 0

local function lines(name)
  local found = {}
  if name then
    for line in io.lines(name) do found[#found + 1] = line end
  end
  return found
end

function init()
  local method = os.getenv("BENCH_METHOD") or "GET"
  local paths = lines(os.getenv("BENCH_PATHS"))
  local bodies = lines(os.getenv("BENCH_BODIES"))
  for index = 1, math.max(#paths, #bodies) do
    local path = paths[(index - 1) % #paths + 1]
    local body = #bodies > 0 and bodies[(index - 1) % #bodies + 1] or nil
    requests[index] = wrk.format(method, path, wrk.headers, body)
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end
