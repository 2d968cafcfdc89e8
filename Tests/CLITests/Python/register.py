"""Registers and unregisters a device, and puts settings, with the Python package `atproto`, with a key and tokens of its own making.

usage: register.py PORT SERVER-DID ACCOUNT-DID p256|k256

Prints its key as a did:key, waits for a line on standard input, then makes its calls and prints what each gave.
"""

import base64
import json
import secrets
import sys
import time

from atproto import Client, models
from atproto_client.exceptions import AtProtocolError
from atproto_client.models.dot_dict import DotDict
from atproto_crypto.did import format_did_key
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

port, server, account, curve = sys.argv[1:5]
algorithm = {"p256": "ES256", "k256": "ES256K"}[curve]
key = ec.generate_private_key({"p256": ec.SECP256R1, "k256": ec.SECP256K1}[curve]())
point = key.public_key().public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
print(format_did_key(algorithm, point), flush=True)
sys.stdin.readline()


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def token(method):
    now = int(time.time())
    claims = {"iss": account, "aud": server, "lxm": method, "iat": now, "exp": now + 60, "jti": secrets.token_hex(16)}
    parts = [encode(json.dumps(part).encode()) for part in ({"typ": "JWT", "alg": algorithm}, claims)]
    r, s = utils.decode_dss_signature(key.sign(b".".join(parts), ec.ECDSA(SHA256())))
    return b".".join([*parts, encode(r.to_bytes(32, "big") + s.to_bytes(32, "big"))]).decode()


def headers(method):
    return {"Authorization": f"Bearer {token(method)}"}


client = Client(base_url=f"http://127.0.0.1:{port}/xrpc")
device = "0123456789abcdef" * 4
for family in ("social.hatk.push", "dev.hatk.push"):
    for name, data in (
        ("registerToken", {"token": device, "platform": "apns", "label": "Python"}),
        ("listDevices", None),
        ("putSettings", {"push": False, "types": [{"type": "follow", "from": "follows"}]}),
        ("getSettings", None),
        ("unregisterToken", {"token": device}),
    ):
        method = f"{family}.{name}"
        if data is None:
            answer = client.invoke_query(method, headers=headers(method))
        else:
            answer = client.invoke_procedure(
                method, headers=headers(method), data=DotDict(data), input_encoding="application/json"
            )
        print(method, answer.status_code, json.dumps(answer.content), flush=True)

notification = client.app.bsky.notification
data = {"service_did": server, "token": device, "platform": "ios", "app_id": "com.grain.app"}
method = "app.bsky.notification.registerPush"
print(method, notification.register_push(models.AppBskyNotificationRegisterPush.Data(**data), headers=headers(method)))
method = "app.bsky.notification.unregisterPush"
print(method, notification.unregister_push(models.AppBskyNotificationUnregisterPush.Data(**data), headers=headers(method)))
try:
    notification.register_push(models.AppBskyNotificationRegisterPush.Data(**data), headers=headers(method))
except AtProtocolError as error:
    print("refused", error.response.status_code, error.response.content.error)
