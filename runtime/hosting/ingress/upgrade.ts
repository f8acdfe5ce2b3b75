import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connectTarget } from './connect-target.ts';
import type { RequestOrigin } from './origin.ts';
import { type IngressPage, pageHead, statusOf } from './pages.ts';
import { forwardLine } from './passing-on.ts';
import { requestHead } from './request-head.ts';
import {
  type ResponseHead,
  type ResponseSink,
  createResponseReader,
  type ResponseReader,
} from './response-reader.ts';
import type { AppRoute, RouteTarget } from './route-table.ts';
import { eject, type PooledTarget, type TargetPools } from './target-pool.ts';
import type { Visit } from './visits.ts';

interface Upgrade {
  readonly request: IncomingMessage;
  readonly client: Duplex;
  /** Bytes that the client has already sent after the head. */
  readonly head: Buffer;
  /** The route as it is now. */
  readonly route: AppRoute;
  readonly pools: TargetPools;
  readonly origin: RequestOrigin;
  readonly visit: Visit;
  readonly now: () => number;
}

const MAX_ATTEMPTS = 3;
const CONNECT_TIMEOUT = 750;
/** For the ingress of another server, which may be far away. */
const FORWARD_TIMEOUT = 5000;
/** Milliseconds until the target's response begins, and milliseconds in which its head must end. */
const RESPONSE_TIMEOUT = 120_000;
const PARTIAL_TIMEOUT = 4500;
/** Milliseconds that a client has to read the remaining bytes. */
const DRAIN_TIMEOUT = 10_000;

/**
 * Connects a WebSocket client to a target. After the target's 101, bytes are copied in both
 * directions without change. Before that, nothing that the client sends after its head reaches the
 * target: if the target did not switch protocols, it would read those bytes as requests that we
 * have not checked.
 */
export function proxyUpgrade(upgrade: Upgrade): void {
  const hides = upgrade.route.rules?.basicAuth !== undefined;
  const head = requestHead(upgrade.request, upgrade.origin, hides);
  if (!head || head.body !== 'none') return turnAway(upgrade, 'badRequest');
  const text = head.text + forwardLine(upgrade.route);
  dial(upgrade, `${text}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`, {
    attempt: 1,
    failed: undefined,
  });
}

/** Tries another target when this one refuses the connection. */
function dial(
  upgrade: Upgrade,
  head: string,
  { attempt, failed }: { attempt: number; failed: RouteTarget | undefined },
): void {
  const { client, pools, now } = upgrade;
  const { targets } = upgrade.route;
  const pooled = pools.pick(targets, failed) ?? pools.pick(targets);
  if (!pooled || client.destroyed) return turnAway(upgrade, 'unavailable');
  const timeout = upgrade.route.forward ? FORWARD_TIMEOUT : CONNECT_TIMEOUT;
  const { socket: target, ready } = connectTarget(pooled.target, timeout);
  upgrade.visit.target = pooled.target.id;
  const refused = () => {
    eject(pooled, now());
    target.destroy();
    if (attempt < MAX_ATTEMPTS)
      dial(upgrade, head, { attempt: attempt + 1, failed: pooled.target });
    else turnAway(upgrade, 'badGateway');
  };
  target.once('error', refused).once('timeout', refused);
  target.once(ready, () => {
    target.setTimeout(0).off('error', refused).off('timeout', refused);
    target.write(head, 'latin1');
    awaitResponse(upgrade, pooled, target);
  });
}

/**
 * Waits for the target's response to the upgrade. A response that is not HTTP/1.1 becomes a 502, as
 * for any request.
 */
function awaitResponse(
  { client, head, visit }: Upgrade,
  pooled: PooledTarget,
  target: Socket,
): void {
  const reader = createResponseReader();
  const state: UpgradeState = { client, target, visit, begun: false, accepted: false };
  const late = setTimeout(() => refuse(state, 'timeout'), RESPONSE_TIMEOUT);
  let partial: NodeJS.Timeout | undefined;
  const read = (data: Buffer) => {
    try {
      reader.push(data);
    } catch {
      return refuse(state, 'badGateway');
    }
    if (!reader.partial()) partial = void clearTimeout(partial);
    else partial ??= setTimeout(() => refuse(state, 'badGateway'), PARTIAL_TIMEOUT);
    if (!state.accepted) return;
    clearTimeout(late);
    target.off('data', read);
    if (head.length > 0) target.write(head);
    client.pipe(target).pipe(client);
  };
  reader.begin(
    'GET',
    sinkOf(state, () => clearTimeout(late)),
    true,
  );
  pooled.active += 1;
  pooled.tunnels.add(target);
  target.on('data', read).on('error', () => target.destroy());
  target.once('close', () => {
    clearTimeout(late);
    clearTimeout(partial);
    pooled.active -= 1;
    pooled.tunnels.delete(target);
    visit.received = target.bytesWritten;
    visit.sent = target.bytesRead;
    if (state.accepted || !client.writableEnded) closeClient(state, reader);
  });
  client.on('drain', () => target.resume()).on('close', () => target.destroy());
  if (client.destroyed) target.destroy();
}

/** The target has closed its connection. Its last bytes are still being sent to the client. */
function closeClient(
  { client, begun, accepted: agreed, visit }: UpgradeState,
  reader: ResponseReader,
): void {
  setTimeout(() => client.destroy(), DRAIN_TIMEOUT).unref();
  if (agreed) return void client.end();
  if (!begun) return turnAway({ client, visit }, 'badGateway');
  try {
    reader.finish();
  } catch {
    // Closes hard, so that an incomplete response does not look complete.
    client.destroy();
  }
}

interface UpgradeState {
  readonly client: Duplex;
  readonly target: Socket;
  readonly visit: Visit;
  /** Whether the client has received a part of the response. */
  begun: boolean;
  /** Whether the response was 101. */
  accepted: boolean;
}

function refuse(
  { client, target, begun, visit }: UpgradeState,
  page: 'badGateway' | 'timeout',
): void {
  if (begun) client.destroy();
  else turnAway({ client, visit }, page);
  target.destroy();
}

/** Answers with a page of our own. */
function turnAway({ client, visit }: Pick<Upgrade, 'client' | 'visit'>, page: IngressPage): void {
  visit.status = statusOf(page);
  client.end(pageHead(page));
}

function sinkOf(state: UpgradeState, begun: () => void): ResponseSink {
  const { client, target } = state;
  const write = ({ status, reason, headers }: ResponseHead, connection: string) => {
    const lines = headers.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
    const text = `HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}${connection}\r\n`;
    client.write(text, 'latin1');
  };
  return {
    onInterim: (head) => write(head, ''),
    onHead(head) {
      state.begun = true;
      state.visit.status = head.status;
      state.accepted = head.status === 101;
      begun();
      write(
        head,
        state.accepted ? 'Connection: Upgrade\r\nUpgrade: websocket\r\n' : 'Connection: close\r\n',
      );
    },
    onBody(data, last) {
      if (last) client.end(data);
      else if (!client.write(data)) target.pause();
    },
    onEnd: () => void client.end(),
  };
}
