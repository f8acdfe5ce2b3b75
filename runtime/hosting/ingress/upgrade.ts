import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pageHead } from './pages.ts';
import { requestHead } from './request-head.ts';
import { BadAnswer, createResponseReader } from './response-reader.ts';
import type { Target } from './route-table.ts';
import { eject, type PooledTarget, type TargetPools } from './target-pool.ts';

interface Upgrade {
  readonly request: IncomingMessage;
  readonly client: Duplex;
  /** What the client has sent already. */
  readonly head: Buffer;
  readonly targets: readonly Target[];
  readonly pools: TargetPools;
  readonly secure: boolean;
  readonly now: () => number;
}

const ATTEMPTS = 3;
const CONNECT = 750;
const MAX_HEAD = 64 * 1024;
/** Milliseconds that a client has to read the rest. */
const LINGER = 10_000;

/**
 * Joins a WebSocket to a target: when the target has agreed (101), bytes go through untouched both ways. Until then
 * nothing that the client sends after its head reaches the target, and when the target does not agree nothing ever does:
 * it would be taken for requests of which we have seen nothing.
 */
export function proxyUpgrade(upgrade: Upgrade): void {
  const head = requestHead(upgrade.request, upgrade.secure);
  if (!head || head.body !== 'none') return void upgrade.client.end(pageHead('badRequest'));
  dial(upgrade, `${head.text}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`, {
    attempt: 1,
    failed: undefined,
  });
}

/** A target that refuses is left for another. */
function dial(
  upgrade: Upgrade,
  head: string,
  { attempt, failed }: { attempt: number; failed: Target | undefined },
): void {
  const { client, pools, targets, now } = upgrade;
  const pooled = pools.pick(targets, failed) ?? pools.pick(targets);
  if (!pooled || client.destroyed) return void client.end(pageHead('unavailable'));
  const { host, port } = pooled.target;
  const target = connect({ host, port, noDelay: true, timeout: CONNECT });
  const refused = () => {
    eject(pooled, now());
    target.destroy();
    if (attempt < ATTEMPTS) dial(upgrade, head, { attempt: attempt + 1, failed: pooled.target });
    else client.end(pageHead('badGateway'));
  };
  target.once('error', refused).once('timeout', refused);
  target.once('connect', () => {
    target.setTimeout(0).off('error', refused).off('timeout', refused);
    target.write(head, 'latin1');
    join(upgrade, pooled, target);
  });
}

function join({ client, head }: Upgrade, pooled: PooledTarget, target: Socket): void {
  let answered = false;
  let seen = Buffer.alloc(0);
  pooled.active += 1;
  target.on('error', () => target.destroy());
  target.once('close', () => {
    pooled.active -= 1;
    // What it has said last is still on its way to the client.
    if (!client.writableEnded) client.end(answered ? undefined : pageHead('badGateway'));
    setTimeout(() => client.destroy(), LINGER).unref();
  });
  client.on('close', () => target.destroy());
  target.on('data', function look(data: Buffer) {
    seen = Buffer.concat([seen, data]);
    const agrees = agreed(seen);
    if (agrees === null) return;
    answered = true;
    target.off('data', look);
    if (!agrees) return decline(client, target, seen);
    client.write(seen);
    if (head.length > 0) target.write(head);
    client.pipe(target).pipe(client);
  });
}

/** Whether the answer is a whole head that says 101; null while that cannot be told. */
function agreed(seen: Buffer): boolean | null {
  if (seen.length < 'HTTP/1.1 101 '.length) return null;
  if (!/^HTTP\/1\.1 101 /.test(seen.toString('latin1', 0, 13))) return false;
  if (seen.indexOf('\r\n\r\n') >= 0) return true;
  return seen.length > MAX_HEAD ? false : null;
}

/** Passes the target's one answer on, and closes. */
function decline(client: Duplex, target: Socket, seen: Buffer): void {
  const reader = createResponseReader();
  const read = (data: Buffer) => {
    try {
      reader.push(data);
    } catch (error) {
      target.destroy();
      if (error instanceof BadAnswer) client.end(pageHead('badGateway'));
    }
  };
  reader.begin('GET', {
    onHead({ status, reason, headers }) {
      const lines = headers.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
      client.write(
        `HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}Connection: close\r\n\r\n`,
        'latin1',
      );
    },
    onBody: (data, last) => void (last ? client.end(data) : client.write(data)),
    onEnd: () => void client.end(),
  });
  target.on('data', read);
  read(seen);
}
