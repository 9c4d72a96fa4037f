<?php
// For PHP's built-in server. Deliveries are stored in a locked file, since each request starts with empty memory.
$path = parse_url($_SERVER["REQUEST_URI"], PHP_URL_PATH);
$store = getenv("WEBHOOK_STORE");
if ($path === "/processed") {
    header("Content-Type: application/json");
    exit(json_encode(array_filter(explode("\n", (string) @file_get_contents($store)))));
}
if ($path !== "/webhook") {
    http_response_code(404);
    exit;
}
if ($_SERVER["REQUEST_METHOD"] !== "POST") {
    http_response_code(405);
    header("Allow: POST");
    exit;
}
$body = file_get_contents("php://input");
$expected = "sha256=" . hash_hmac("sha256", $body, getenv("WEBHOOK_SECRET"));
if (!hash_equals($expected, $_SERVER["HTTP_X_SERVICE_SIGNATURE"] ?? "")) {
    http_response_code(401);
    exit("invalid signature");
}
$payload = json_decode($body, true);
if (!is_string($payload["delivery_id"] ?? null)) {
    http_response_code(400);
    exit("not a delivery");
}
$file = fopen($store, "c+");
flock($file, LOCK_EX);
if (!in_array($payload["delivery_id"], explode("\n", stream_get_contents($file)), true)) {
    fwrite($file, $payload["delivery_id"] . "\n");
}
fclose($file);
echo "ok";
