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
  /** Resolves when it is done; with undefined when the process ends before, or the time is over. */
  ask(question: CommandWithReply, timeout: number): Promise<DoneReport | undefined>;
  onEnd(listener: () => void): void;
  /** Lets go of the process, which goes on. */
  end(): void;
}

/** Connects to the process that takes commands on this socket. */
export function dial(path: string): Promise<IngressLink> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const answers = createAnswers();
    socket.on('error', reject).on('close', () => {
      answers.finishAll();
      reject(new Error('it has ended'));
    });
    receive<IngressReport>(socket, (report) => {
      if (report.type === 'hello') resolve(linkOf(socket, report, answers));
      else answers.finish(report.id, report);
    });
    socket.unref();
  });
}

function linkOf(
  socket: Socket,
  hello: HelloReport,
  answers: ReturnType<typeof createAnswers>,
): IngressLink {
  return {
    hello,
    tell: (command) => send(socket, command),
    ask(question, timeout) {
      if (socket.destroyed) return Promise.resolve(undefined);
      const { id, done } = answers.expect(timeout);
      send(socket, { ...question, id });
      return done;
    },
    onEnd: (listener) => void (socket.destroyed ? listener() : socket.once('close', listener)),
    end: () => void socket.end(),
  };
}

/** Answers that are waited for, by number. A process that does not answer holds nothing up for longer than it may. */
function createAnswers() {
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
