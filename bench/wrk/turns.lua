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

-- A client sends its headers in one order. wrk.format does so in another for each process, and a server that reads them is
-- compiled anew for each order, while its p99 is measured.
local function headerLines(body)
  local found = {}
  for name, value in pairs(wrk.headers) do found[#found + 1] = name .. ": " .. value .. "\r\n" end
  if body then found[#found + 1] = "Content-Length: " .. #body .. "\r\n" end
  table.sort(found)
  return table.concat(found)
end

function init()
  local method = os.getenv("BENCH_METHOD") or "GET"
  local paths = lines(os.getenv("BENCH_PATHS"))
  local bodies = lines(os.getenv("BENCH_BODIES"))
  for index = 1, math.max(#paths, #bodies) do
    local path = paths[(index - 1) % #paths + 1]
    local body = #bodies > 0 and bodies[(index - 1) % #bodies + 1] or nil
    requests[index] = method .. " " .. path .. " HTTP/1.1\r\n" .. headerLines(body) .. "\r\n" .. (body or "")
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end
