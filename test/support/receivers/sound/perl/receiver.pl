# A small HTTP/1.0-style server on IO::Socket: one request per connection, one after another.
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256_hex);
use IO::Socket::INET;
use JSON::PP qw(decode_json encode_json);

my $secret = $ENV{WEBHOOK_SECRET} or die "WEBHOOK_SECRET is not set\n";
local $SIG{PIPE} = "IGNORE";
my $server = IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 128, ReuseAddr => 1) or die "$!\n";
$| = 1;
print "listening on http://127.0.0.1:" . $server->sockport . "/webhook\n";

my (%known, @processed);
while (my $client = $server->accept) {
    binmode $client;
    my $answer = eval { handle($client) };
    next unless $answer;
    my ($status, $text) = @$answer;
    print $client "HTTP/1.1 $status Status\r\nContent-Type: application/json\r\n"
        . "Content-Length: " . length($text) . "\r\nConnection: close\r\n\r\n$text";
    close $client;
}

sub handle {
    my ($client) = @_;
    my ($method, $path) = split / /, (<$client> // die "gone\n");
    my %header;
    while (defined(my $line = <$client>)) {
        $line =~ s/\r?\n\z//;
        last if $line eq "";
        my ($name, $value) = split /:\s*/, $line, 2;
        $header{lc $name} = $value;
    }
    my $body = read_body($client, \%header);
    return [200, encode_json(\@processed)] if $path eq "/processed";
    return [404, ""] if $path ne "/webhook";
    return [405, ""] if $method ne "POST";
    my $expected = "sha256=" . hmac_sha256_hex($body, $secret);
    return [401, "invalid signature"] unless equal($expected, $header{"x-service-signature"} // "");
    my $payload = eval { decode_json($body) } or return [400, "not JSON"];
    my $id = $payload->{delivery_id};
    push @processed, $id unless $known{$id}++;
    return [200, "ok"];
}

sub read_body {
    my ($client, $header) = @_;
    if (($header->{"transfer-encoding"} // "") =~ /chunked/i) {
        my $body = "";
        while (1) {
            my $size = hex((split /;/, <$client> // die "gone\n")[0]);
            $body .= read_exactly($client, $size);
            my $end = <$client>;
            return $body unless $size;
        }
    }
    return read_exactly($client, $header->{"content-length"} // 0);
}

sub read_exactly {
    my ($client, $length) = @_;
    my $read = read($client, my $bytes, $length);
    die "gone\n" unless defined $read && $read == $length;
    return $bytes;
}

# Compares in constant time.
sub equal {
    my ($left, $right) = @_;
    return 0 unless length $left == length $right;
    my $difference = 0;
    $difference |= ord(substr $left, $_, 1) ^ ord(substr $right, $_, 1) for 0 .. length($left) - 1;
    return $difference == 0;
}
