# Uses WEBrick and the standard library.
require "json"
require "openssl"
require "webrick"

SECRET = ENV.fetch("WEBHOOK_SECRET")
LOCK = Mutex.new
KNOWN = {}
PROCESSED = []

class Webhook < WEBrick::HTTPServlet::AbstractServlet
  def do_POST(request, response)
    body = request.body.to_s
    expected = "sha256=" + OpenSSL::HMAC.hexdigest("SHA256", SECRET, body)
    given = request["X-Service-Signature"].to_s
    unless given.bytesize == expected.bytesize && OpenSSL.fixed_length_secure_compare(expected, given)
      response.status = 401
      return
    end
    begin
      id = JSON.parse(body).fetch("delivery_id")
    rescue JSON::ParserError, KeyError
      response.status = 400
      return
    end
    LOCK.synchronize do
      PROCESSED << id unless KNOWN[id]
      KNOWN[id] = true
    end
    response.body = "ok"
  end
end

server = WEBrick::HTTPServer.new(
  BindAddress: "127.0.0.1", Port: 0, AccessLog: [], Logger: WEBrick::Log.new(File::NULL)
)
server.mount("/webhook", Webhook)
server.mount_proc("/processed") { |_request, response| response.body = LOCK.synchronize { JSON.dump(PROCESSED) } }
$stdout.puts "listening on http://127.0.0.1:#{server.listeners[0].addr[1]}/webhook"
$stdout.flush
trap("TERM") { exit! }
server.start
