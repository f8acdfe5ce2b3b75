import { connect, type Socket } from 'node:net';
import {
  type CommandWithReply,
  type IngressCommand,
  receive,
  type IngressReport,
  send,
} from './control.ts';

type HelloReport = Extract<IngressReport, { type: 'hello' }>;
type DoneReport = Extract<IngressReport, { type: 'done' }>;

/** The connection of a server to an ingress process. */
export interface IngressLink {
  readonly hello: HelloReport;
  tell(command: IngressCommand): void;
  /**
   * Resolves with the report of the process. Resolves with undefined when the process ends first or
   * the time is over.
   */
  ask(command: CommandWithReply, timeout: number): Promise<DoneReport | undefined>;
  onEnd(listener: () => void): void;
  /** Closes the connection. The process continues. */
  end(): void;
}

/** Connects to the process that accepts commands on this socket. */
export function dial(path: string): Promise<IngressLink> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const pending = createPendingReports();
    socket.on('error', reject).on('close', () => {
      pending.finishAll();
      reject(new Error('it has ended'));
    });
    receive<IngressReport>(socket, (report) => {
      if (report.type === 'hello') resolve(linkOf(socket, report, pending));
      else pending.finish(report.id, report);
    });
    socket.unref();
  });
}

function linkOf(
  socket: Socket,
  hello: HelloReport,
  pending: ReturnType<typeof createPendingReports>,
): IngressLink {
  return {
    hello,
    tell: (command) => send(socket, command),
    ask(command, timeout) {
      if (socket.destroyed) return Promise.resolve(undefined);
      const { id, done } = pending.expect(timeout);
      send(socket, { ...command, id });
      return done;
    },
    onEnd: (listener) => void (socket.destroyed ? listener() : socket.once('close', listener)),
    end: () => void socket.end(),
  };
}

/** The expected reports, by id. Each has a timeout, because the process may not answer. */
function createPendingReports() {
  const waiting = new Map<number, (report?: DoneReport) => void>();
  let last = 0;
  const finish = (id: number, report?: DoneReport) => {
    waiting.get(id)?.(report);
    waiting.delete(id);
  };
  return {
    finish,
    finishAll: () => [...waiting.keys()].forEach((id) => finish(id)),
    expect(timeout: number): {
      readonly id: number;
      readonly done: Promise<DoneReport | undefined>;
    } {
      const id = (last += 1);
      const timer = setTimeout(() => finish(id), timeout).unref();
      const done = new Promise<DoneReport | undefined>((resolve) =>
        waiting.set(id, (report) => {
          clearTimeout(timer);
          resolve(report);
        }),
      );
      return { id, done };
    },
  };
}
