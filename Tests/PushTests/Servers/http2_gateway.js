// A gateway like Apple's on Node's http2, which misbehaves as it is told.
//
//     node http2_gateway.js FAULT CERTIFICATE KEY
//
// Prints the port, then a line for each request, in the words of h2_gateway.py.
'use strict';

const fs = require('node:fs');
const http2 = require('node:http2');
const tls = require('node:tls');

const [name, certificate, key] = process.argv.slice(2);
const {NGHTTP2_REFUSED_STREAM, NGHTTP2_INTERNAL_ERROR} = http2.constants;
const attempts = new Map();
const say = (...words) => fs.writeSync(1, words.join(' ') + '\n');

// What faults are handed: one request, from its headers on.
class Request {
    constructor(stream, headers, session) {
        this.stream = stream;
        this.session = session;
        this.id = headers['apns-id'];
        this.place = ++session.count;  // which request of its connection, from 1
        this.attempt = (attempts.get(this.id) ?? 0) + 1;  // which try of its id, from 1
        attempts.set(this.id, this.attempt);
    }

    answer(status = 200, body = '', headers = {}) {
        if (this.stream.destroyed) return say('unanswered', this.id);
        // Told before it is done: whoever reads the answer may read this at once.
        if (status === 200) say('answered', this.id); else say('told', this.id, status);
        this.stream.respond({':status': status, 'apns-id': this.id, ...headers}, {endStream: body === ''});
        if (body !== '') this.stream.end(body);
    }

    reset(code) {
        say(code === NGHTTP2_REFUSED_STREAM ? 'refused' : 'unanswered', this.id);
        this.stream.close(code);
    }
}

// Each is handed a request that has arrived whole.
const faults = {
    Well: (request) => request.answer(),
    RefusesStreams: (request) => request.place % 3 ? request.answer() : request.reset(NGHTTP2_REFUSED_STREAM),
    ResetsStreams: (request) =>
        request.attempt > 1 || request.place % 4 ? request.answer() : request.reset(NGHTTP2_INTERNAL_ERROR),
    GoesAwayMidBurst: (request) => {
        const session = request.session;
        const id = request.stream.id;
        // A body may come before that of an earlier stream.
        if (id < session.last || request.place <= 10 && !session.isGone) {
            session.last = Math.max(session.last, id);
            return request.answer();
        }
        say('refused', request.id);
        if (session.isGone) return;
        session.isGone = true;
        session.goaway(0, session.last, Buffer.from('{"reason":"Shutdown"}'));
    },
    ResetsTheSocket: (request) => {
        if (request.session.number > 3 || request.place < 25) return request.answer();
        say('unanswered', request.id);
        request.session.raw.resetAndDestroy();
    },
    // Says GOAWAY, answers what it has, and takes no more.
    ClosesInPeace: (request) => {
        request.answer();
        if (request.place === 20) request.session.close();
    },
    NeverAnswersSome: (request) => {
        if (request.attempt > 1 || request.place % 20 !== 7) return request.answer();
        say('unanswered', request.id);
    },
    ChangesTheLimit: (request) => {
        const limit = (maxConcurrentStreams) => request.session.settings({maxConcurrentStreams});
        if (request.place === 1) limit(1);
        if (request.place === 5) limit(1000);
        if (request.place === 30) {
            limit(0);
            setTimeout(limit, 50, 1000);
        }
        request.answer();
    },
    HasOddBodies: (request) => {
        const bodies = ['', '<html><h1>Bad Gateway</h1></html>', '{"reason":17}', '\u0000'];
        if (request.attempt > 1 || request.place % 3) return request.answer();
        request.answer(500 + request.place % 5, bodies[request.place % 4]);
    },
    Throttles: (request) => {
        if (request.attempt > 2 || request.place % 5) return request.answer();
        request.answer(429, '{"reason":"TooManyRequests"}', {'retry-after': '2'});
    },
    AnswersInSteps: (request) => {
        say('answered', request.id);
        request.stream.additionalHeaders({':status': 103, 'link': '</x>'});
        request.stream.respond({':status': 200, 'apns-id': request.id}, {waitForTrailers: true});
        request.stream.on('wantTrailers', () => request.stream.sendTrailers({'x-status': '500'}));
        request.stream.end();
    },
    SplitsAnswers: (request) => {
        if (request.attempt > 1) say('answered', request.id); else say('told', request.id, 503);
        request.stream.respond({':status': request.attempt > 1 ? 200 : 503, 'apns-id': request.id});
        for (const byte of '{"reason":"ServiceUnavailable"}') request.stream.write(byte);
        request.stream.end();
    },
    Pings: (request) => {
        for (let left = 5; left > 0; left--) request.session.ping(() => {});
        request.answer();
    },
    FailsAtOnce: (request) => {
        if (request.session.number <= 3) return request.session.destroy();
        request.answer();
    },
};
// These do not wait for the end of a request.
const early = {
    AnswersEarly: (request) => request.answer(),
};

const secure = {cert: fs.readFileSync(certificate), key: fs.readFileSync(key)};
const settings = {maxConcurrentStreams: 1000};
let connections = 0;
const sockets = new Map();  // by the peer's port

// A TLS server of its own in front, so that ALPN and the socket are in the fault's hands.
const server = http2.createSecureServer({...secure, settings});
const front = tls.createServer({...secure, ALPNProtocols: ['h2']}, (socket) => {
    socket.setNoDelay(true);
    socket.on('error', () => {});
    server.emit('secureConnection', socket);
});
front.on('connection', (socket) => {
    sockets.set(socket.remotePort, socket);
    socket.on('error', () => {});
});
server.on('session', (session) => {
    session.number = ++connections;
    session.count = 0;
    session.last = 0;
    session.raw = sockets.get(session.socket.remotePort);
    session.on('error', () => {});
});
server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    const request = new Request(stream, headers, stream.session);
    if (early[name]) return early[name](request);
    stream.resume();
    stream.on('end', () => faults[name](request));
});
front.listen(0, '127.0.0.1', () => say(front.address().port));
