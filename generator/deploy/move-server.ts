import { request as requestPlain, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as requestSecure } from 'node:https';
import { text } from 'node:stream/consumers';
import { CommandError, EXIT } from '../failure.ts';
import { type HostingServer, HostingRefusal, reasonOf } from './hosting-server.ts';

/** What a move of an app takes along. */
export interface MovePlan {
  readonly version: string;
  readonly volumes: readonly { readonly name: string; readonly bytes: number | null }[];
  readonly domains: readonly string[];
  /** Bytes of the image. */
  readonly image: number | null;
  /** Where its backups are stored; null when it has no plan of its own. */
  readonly backup_target: string | null;
}

/** The part of the API of a hosting server that moves use. The calls throw as `HostingServer`. */
export interface MoveServer {
  readonly url: string;
  check(app: string): Promise<MovePlan>;
  /** Asks the new server whether it has what the app needs. */
  accept(plan: MovePlan): Promise<void>;
  /** The app as an encrypted stream, which stops the app before its end. */
  copy(app: string, asked: { readonly key: string; readonly to: string }): Promise<IncomingMessage>;
  /** Keeps the move alive. */
  stay(app: string): Promise<void>;
  commit(app: string): Promise<{ readonly to: string; readonly until: string }>;
  /** Opens a request for a part of the stream. `answer` resolves when the server has read it. */
  part(number: number, key: string): OpenPart;
  /** Ends the stream. Resolves when the app has started. */
  finish(number: number, key: string): Promise<void>;
  cancelExport(app: string): Promise<void>;
  cancelImport(): Promise<void>;
}

export interface OpenPart {
  readonly sent: ClientRequest;
  readonly answer: Promise<void>;
}

/** The requests of a move: to the app that is exported, and to the server that gets it. */
function createRequests(
  { url, credentials }: HostingServer,
  move: string,
  signal: AbortSignal | undefined,
) {
  const open = ({ method, path, headers = {} }: Asked) => {
    const request = url.startsWith('https:') ? requestSecure : requestPlain;
    return request(url + path, {
      ...{ method, agent: false, ...(signal && { signal }) },
      headers: { Accept: 'application/json', ...credentials, ...headers },
    });
  };
  const step = (app: string, body: object) => {
    const json = JSON.stringify({ move, ...body });
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(json)),
    };
    const sent = open({ method: 'POST', path: exportOf(app), headers });
    sent.end(json);
    return answerOf(sent, url);
  };
  const part = (number: number, key: string, words = ''): OpenPart => {
    const sent = open({
      method: 'POST',
      path: `/api/apps/import?move=${move}&part=${number}${words}`,
      headers: {
        'Content-Type': 'application/octet-stream',
        'X-Move-Key': key,
        // A server that refuses a part while it is sent would otherwise close the connection after
        // its answer, which is lost then: writing fails before it is read.
        Connection: 'keep-alive',
      },
    });
    return { sent, answer: answerOf(sent, url).then(drop) };
  };
  const emptyPart = async (number: number, key: string, words: string) => {
    const { sent, answer } = part(number, key, words);
    sent.end();
    await answer;
  };
  return { open, step, part, emptyPart };
}

/** @param move The id of the move, which both servers get. */
export function createMoveServer(
  server: HostingServer,
  move: string,
  signal?: AbortSignal,
): MoveServer {
  const { url } = server;
  const { open, step, part, emptyPart } = createRequests(server, move, signal);
  return {
    url,
    check: async (app) => json<MovePlan>(await step(app, { step: 'check' })),
    async accept({ backup_target: target }) {
      const named = target === null ? '' : `&backup_target=${encodeURIComponent(target)}`;
      await emptyPart(1, '', `&step=check${named}`);
    },
    copy: (app, asked) => step(app, { step: 'copy', ...asked }),
    async stay(app) {
      const sent = open({ method: 'GET', path: `${exportOf(app)}?move=${move}` });
      sent.end();
      await answerOf(sent, url).then(drop);
    },
    commit: async (app) => json(await step(app, { step: 'commit' })),
    part,
    finish: (number, key) => emptyPart(number, key, '&step=last'),
    cancelExport: async (app) => drop(await step(app, { step: 'cancel' })),
    cancelImport: () => emptyPart(1, '', '&step=cancel'),
  };
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const exportOf = (app: string) => `/api/apps/${encodeURIComponent(app)}/export`;

const json = async <T>(answer: IncomingMessage): Promise<T> => JSON.parse(await text(answer)) as T;
const drop = (answer: IncomingMessage): void => void answer.resume();

/** @throws HostingRefusal with the server's reason, CommandError when it does not answer. */
function answerOf(sent: ClientRequest, url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.on('error', (error) => reject(away(url, error)));
    sent.on('response', (answer) => {
      if (answer.statusCode === 200) return resolve(answer);
      void refusalOf(answer, url).then(reject, reject);
    });
  });
}

const away = (url: string, error: Error) =>
  new CommandError('SERVER_AWAY', {
    message: `${url} does not answer: ${reasonOf(error)}`,
    exit: EXIT.again,
  });

async function refusalOf(answer: IncomingMessage, url: string): Promise<Error> {
  const status = answer.statusCode ?? 0;
  const body = await text(answer).catch(() => '');
  return new HostingRefusal(status, messageIn(body) ?? `${url} answered ${status}`);
}

function messageIn(body: string): string | null {
  try {
    const { error } = JSON.parse(body) as { error?: unknown };
    return typeof error === 'string' ? error : null;
  } catch {
    return null;
  }
}
