import type { Socket } from 'node:net';
import type { ClientRequest } from './client.ts';
import { connectTarget, type TargetAddress } from './connect-target.ts';
import type { RequestHead } from './request-head.ts';
import {
  type ResponseHead,
  type ResponseSink,
  BadResponse,
  createResponseReader,
  TruncatedResponse,
  type ResponseReader,
} from './response-reader.ts';
import { isEventStream } from './response-fields.ts';

/**
 * One request for a target, with the functions that receive the response. `onBody` returns whether
 * more data may come now.
 */
export interface TargetCall {
  readonly method: string;
  readonly head: RequestHead;
  readonly body: ClientRequest;
  /** Milliseconds without a byte of the response after which it is given up. */
  readonly timeout: number;
  /**
   * The request must not be sent twice. So it never uses a connection that the target may be
   * closing at this moment.
   */
  readonly once: boolean;
  /** There is no other target, so this one gets more time to accept the connection. */
  readonly patient: boolean;
  /** Whether another target exists now. */
  movable(): boolean;
  /** Called once a second while the request runs. */
  onTick(time: number): void;
  /** Called with each part of the request body. @returns whether the request goes on. */
  onUpload(bytes: number): boolean;
  /** The lines of the fields after a chunked request body. */
  trailers(): string;
  /** An interim response (1xx), before the final one. */
  onInterim(head: ResponseHead): void;
  onHead(head: ResponseHead): void;
  onBody(data: Buffer, last: boolean): boolean;
  onEnd(trailers?: readonly (readonly [string, string])[]): void;
  /** `sent` says whether the target may have received the request. */
  onError(error: Error, sent: boolean): void;
}

/** A request that was sent and has no complete response yet. */
export interface RunningCall {
  /** Gives the request up and closes its connection. */
  abandon(): void;
  /** Continues to read the response. */
  resume(): void;
}

/** The connections to one target. */
export interface TargetConnections {
  send(call: TargetCall): RunningCall;
  /**
   * Closes connections that have been idle for too long, and gives up on responses that do not
   * begin or do not continue.
   */
  sweep(): void;
  /**
   * Requests that wait for a connection, and of which nothing was sent, fail if they can go to
   * another target.
   */
  yield(): void;
  /** Accepts no more requests. Running ones are finished. */
  close(): void;
  /** The target has ended: a request to which nothing more comes is given up. */
  abandon(): void;
  /** Whether no connection is left. */
  empty(): boolean;
  /** Closes all connections at once. */
  destroy(): void;
}

/** The response did not begin in time. */
export class ResponseTimeout extends Error {}

/** Milliseconds. Most servers, like Node, close idle connections after five seconds or more. */
const IDLE_TIMEOUT = 4000;
/** A request that must not be sent twice needs a connection that was idle for less than this. */
const IDLE_TIMEOUT_ONCE = 1000;
const CONNECT_TIMEOUT = 750;
/**
 * When an app's queue of new connections is full, the kernel tries again after one second and after
 * three. This is long enough for both.
 */
const LONG_CONNECT_TIMEOUT = 3500;
/**
 * Milliseconds in which a head, or a line between chunks, must end. `sweep` runs once a second, so
 * the client gets its 502 four seconds after the first byte.
 */
const PARTIAL_TIMEOUT = 3000;
/**
 * Milliseconds after which a closed target must be gone. If its queue of connections was full, it
 * never received some of the requests, and their connections are not reset.
 */
const GONE_TIMEOUT = 15_000;
/** Milliseconds without a byte after which a request to a target that has ended is given up. */
const ENDED_TIMEOUT = 4000;
const REPLACED = 'another target has taken its place';

interface TargetConnection {
  readonly socket: Socket;
  readonly reader: ResponseReader;
  job: OpenCall | null;
  /** When its last request ended. */
  since: number;
  /** When the last bytes of a response arrived. */
  heard: number;
  /** When the incomplete head or line began. */
  partialSince: number | null;
}

interface OpenCall extends RunningCall {
  readonly call: TargetCall;
  connection: TargetConnection | null;
  over: boolean;
  sent: boolean;
  /** Whether the complete request body was sent. */
  bodySent: boolean;
  /** When something was last sent, while no response has begun. */
  waitsSince: number | null;
  /**
   * Whether a body is being read that is no event stream: no data for a long time then means that
   * the target hangs.
   */
  timed: boolean;
}

export function createTargetConnections(
  address: TargetAddress,
  now: () => number,
): TargetConnections {
  const all = new Set<TargetConnection>();
  const idle: TargetConnection[] = [];
  let closing = false;
  const end = { closedAt: Infinity, abandonedAt: Infinity };

  const open = (job: OpenCall) => {
    const closed = (connection: TargetConnection, report: () => void) => {
      all.delete(connection);
      report();
    };
    const received = (connection: TargetConnection, data: Buffer) =>
      read(connection, { data, time: now(), release });
    all.add(dial({ address, job, now, received, closed }));
  };
  const release = (connection: TargetConnection) => {
    const { socket, reader, job } = connection;
    connection.job = null;
    if (closing || !job?.bodySent || !reader.reusable() || !reader.idle() || socket.destroyed)
      return void socket.destroy();
    connection.since = now();
    idle.push(connection);
  };

  return {
    send(call) {
      const job = createOpenCall(call, now);
      const connection = takeIdle(idle, call.once ? IDLE_TIMEOUT_ONCE : IDLE_TIMEOUT, now());
      if (connection) startOn(connection, job, now);
      else open(job);
      return job;
    },
    sweep() {
      const time = now();
      while (idle[0] && time - idle[0].since >= IDLE_TIMEOUT) idle.shift()?.socket.destroy();
      for (const connection of all) checkTimeouts(connection, time, end);
    },
    yield() {
      for (const { job, socket } of all)
        if (socket.connecting && job?.call.movable()) socket.destroy(new Error(REPLACED));
    },
    close() {
      closing = true;
      for (const { socket } of idle.splice(0)) socket.destroy();
      end.closedAt = now();
    },
    abandon() {
      end.abandonedAt = now();
    },
    empty: () => all.size === 0,
    destroy() {
      closing = true;
      for (const { socket } of all) socket.destroy();
    },
  };
}

/** When the target was closed, and when its container ended. */
interface TargetEnd {
  readonly closedAt: number;
  readonly abandonedAt: number;
}

/**
 * Reports the time to the request, and gives up on a response that does not begin or does not
 * continue.
 */
function checkTimeouts(
  connection: TargetConnection,
  time: number,
  { closedAt, abandonedAt }: TargetEnd,
): void {
  const { job, socket, heard, partialSince } = connection;
  job?.call.onTick(time);
  if (partialSince !== null && time - partialSince > PARTIAL_TIMEOUT)
    return void socket.destroy(new BadResponse('its head or a chunk did not end'));
  if (job?.timed && time - heard > job.call.timeout && !socket.isPaused())
    return void socket.destroy(new BadResponse('its body did not go on'));
  if (job && time - Math.max(heard, abandonedAt) > ENDED_TIMEOUT && !socket.isPaused())
    return void socket.destroy(new Error('its container has ended'));
  if (!job?.waitsSince) return;
  if (time - job.waitsSince > job.call.timeout)
    socket.destroy(new ResponseTimeout('no answer in time'));
  else if (time - closedAt > GONE_TIMEOUT && !job.call.once && job.call.movable())
    socket.destroy(new Error(REPLACED));
}

/** Takes the connection that was used last, and closes those that have been idle for too long. */
function takeIdle(
  idle: TargetConnection[],
  longest: number,
  time: number,
): TargetConnection | undefined {
  for (let connection = idle.pop(); connection; connection = idle.pop()) {
    if (!connection.socket.destroyed && time - connection.since < longest) return connection;
    connection.socket.destroy();
  }
  return undefined;
}

interface DialOptions {
  readonly address: TargetAddress;
  readonly job: OpenCall;
  readonly now: () => number;
  received(connection: TargetConnection, data: Buffer): void;
  /**
   * Called when the socket is closed. `report` reports the end to the request, after the connection
   * was removed from every list.
   */
  closed(connection: TargetConnection, report: () => void): void;
}

function dial({ address, job, now, received, closed }: DialOptions): TargetConnection {
  const { socket, ready } = connectTarget(address);
  let open = false;
  const connection: TargetConnection = {
    ...{ socket, reader: createResponseReader(), job },
    ...{ since: 0, heard: 0, partialSince: null },
  };
  job.connection = connection;
  const patience = job.call.patient ? LONG_CONNECT_TIMEOUT : CONNECT_TIMEOUT;
  const giveUp = () => !open && socket.destroy(new Error(`no connection within ${patience} ms`));
  // On a busy machine this process itself may be late: data that has already arrived is handled
  // first.
  const late = setTimeout(() => setImmediate(giveUp), patience);
  let failure: Error | undefined;
  socket.once(ready, () => {
    open = true;
    clearTimeout(late);
    if (connection.job) write(connection, connection.job, now);
  });
  socket.on('data', (data) => received(connection, data as Buffer));
  socket.on('drain', () => connection.job?.call.body.resume());
  socket.on('error', (error) => (failure = error));
  socket.on('close', () => {
    clearTimeout(late);
    closed(connection, () => reportEnd(connection, failure));
  });
  return connection;
}

interface ReceivedData {
  readonly data: Buffer;
  readonly time: number;
  readonly release: (connection: TargetConnection) => void;
}

function read(connection: TargetConnection, { data, time, release }: ReceivedData): void {
  const { job, reader, socket } = connection;
  if (!job) return void socket.destroy();
  connection.heard = time;
  try {
    reader.push(data);
  } catch (error) {
    return void socket.destroy(error as Error);
  }
  if (!reader.partial()) connection.partialSince = null;
  else connection.partialSince ??= time;
  if (job.over && connection.job === job) release(connection);
}

function createOpenCall(call: TargetCall, now: () => number): OpenCall {
  const job: OpenCall = {
    ...{ call, connection: null, over: false, sent: false, bodySent: false },
    ...{ waitsSince: null, timed: false },
    abandon() {
      job.over = true;
      job.connection?.socket.destroy();
    },
    resume() {
      if (!job.connection) return;
      // Nothing was read while the client was slow, so the silence is counted from now.
      job.connection.heard = now();
      job.connection.socket.resume();
    },
  };
  return job;
}

function startOn(connection: TargetConnection, job: OpenCall, now: () => number): void {
  connection.job = job;
  job.connection = connection;
  write(connection, job, now);
}

function write({ socket, reader }: TargetConnection, job: OpenCall, now: () => number): void {
  const { call } = job;
  reader.begin(call.method, sinkOf(job, socket));
  job.sent = true;
  job.waitsSince = now();
  if (call.head.body === 'none') {
    job.bodySent = true;
    socket.write(`${call.head.text}\r\n`, 'latin1');
  } else writeBody(socket, job, now);
}

/** A body of unknown length is divided into new chunks. The client's own chunks are not kept. */
function writeBody(socket: Socket, job: OpenCall, now: () => number): void {
  const { call } = job;
  const { head, body } = call;
  const chunked = head.body === 'chunked';
  socket.write(`${head.text}${chunked ? 'Transfer-Encoding: chunked\r\n' : ''}\r\n`, 'latin1');
  body.on('data', (data: Buffer) => {
    if (job.over || socket.destroyed) return;
    if (job.waitsSince !== null) job.waitsSince = now();
    if (!call.onUpload(data.length)) return;
    if (chunked) socket.write(`${data.length.toString(16)}\r\n`, 'latin1');
    const more = socket.write(data);
    if (chunked) socket.write('\r\n', 'latin1');
    if (!more) body.pause();
  });
  body.on('end', () => {
    if (job.over || socket.destroyed) return;
    if (chunked) socket.write(`0\r\n${call.trailers()}\r\n`, 'latin1');
    job.bodySent = true;
  });
}

function sinkOf(job: OpenCall, socket: Socket): ResponseSink {
  const { call } = job;
  return {
    onInterim(head) {
      if (!job.over) call.onInterim(head);
    },
    onHead(head) {
      job.waitsSince = null;
      job.timed = head.length !== null || !isEventStream(head.headers);
      if (!job.over) call.onHead(head);
    },
    onBody(data, last) {
      if (job.over) return;
      if (last) job.over = true;
      if (!call.onBody(data, last) && !last) socket.pause();
    },
    onEnd(trailers) {
      if (job.over) return;
      job.over = true;
      call.onEnd(trailers);
    },
  };
}

/** The connection is closed: its request ends, with an error or without. */
function reportEnd({ job, reader }: TargetConnection, failure: Error | undefined): void {
  if (!job || job.over) return;
  try {
    // A response without a length ends with its connection, unless the connection broke.
    if (failure) throw failure;
    if (!job.sent) throw new TruncatedResponse('the connection was closed');
    reader.finish();
  } catch (error) {
    job.over = true;
    job.call.onError(error as Error, job.sent);
  }
}
