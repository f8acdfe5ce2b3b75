import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import { createServer as createPlain, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createIngress, type Ingress } from '../../runtime/hosting/ingress/ingress.ts';
import { hostileAnswers, type HostileAnswer } from './hostile-answers.ts';

/** `FUZZ_ANSWERS=15000` asks for more of them, and `FUZZ_SEED` for the same ones again. */
const COUNT = Number(process.env['FUZZ_ANSWERS'] ?? 2000);
const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000_000);
const AT_ONCE = 150;
/** Milliseconds from the last byte of an app until its client has an answer; the promise is five seconds. */
const LONGEST = 5000;
/** This process is the client, the app and the ingress, and may be the late one. */
const GRACE = 3000;

let ingress: Ingress;
let port: number;
let liarPort: number;
const servers: Server[] = [];
const sockets = new Set<Socket>();
let answers: readonly HostileAnswer[] = [];

beforeAll(async () => {
  ingress = createIngress({ http: 0, https: 0, host: '127.0.0.1', now: Date.now });
  port = (await ingress.listen()).http as number;
  liarPort = await open(createPlain({ noDelay: true }, (socket) => lie(socket)));
  const good = await open(createServer((_, response) => response.end('good')));
  for (const [appId, to] of [
    ['liar', liarPort],
    ['good', good],
  ] as const)
    ingress.set({
      ...{ appId, hosts: [`${appId}.test`], state: 'serving' },
      targets: [{ id: appId, host: '127.0.0.1', port: to }],
    });
});
afterAll(async () => {
  await ingress.close(1000);
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

async function open(server: Server): Promise<number> {
  servers.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4096, resolve));
  return (server.address() as AddressInfo).port;
}

/** The app that answers as the number in the path says. */
function lie(socket: Socket): void {
  let asked = '';
  socket.on('data', async (data) => {
    asked += data.toString('latin1');
    if (!asked.includes('\r\n\r\n')) return;
    const { bytes, cuts, afterwards } = answers[
      Number(/^\w+ \/(\d+)/.exec(asked)?.[1])
    ] as HostileAnswer;
    asked = '';
    for (let at = 0, turn = 0; at < bytes.length && !socket.destroyed; turn += 1) {
      const size = cuts[turn % cuts.length] as number;
      socket.write(bytes.subarray(at, at + size));
      at += size;
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (afterwards === 'end') socket.end();
    if (afterwards === 'reset') setTimeout(() => socket.resetAndDestroy(), 10);
  });
}

interface Outcome {
  /** 0: none came. */
  readonly status: number;
  readonly end: 'whole' | 'cut' | 'open' | 'nothing' | string;
}

/** Asks for an answer, and waits as long as it may take. */
function ask(to: number, index: number, patience: number): Promise<Outcome> {
  const method = index % 2 === 0 ? 'GET' : 'POST';
  return new Promise((resolve) => {
    let status = 0;
    let answered: IncomingMessage | undefined;
    const done = (end: string) => {
      clearTimeout(timer);
      resolve({ status, end });
      sent.destroy();
    };
    const sent = request(
      {
        port: to,
        host: '127.0.0.1',
        method,
        path: `/${index}`,
        agent: false,
        headers: { host: 'liar.test' },
      },
      (answer) => {
        status = answer.statusCode as number;
        answered = answer;
        answer
          .resume()
          .on('end', () => done('whole'))
          .on('error', () => done('cut'));
      },
    );
    const timer = setTimeout(() => done(status === 0 ? 'nothing' : 'open'), patience);
    sent.on('error', (error: NodeJS.ErrnoException) => done(wordFor(error, answered)));
    sent.end();
  });
}

/** What stands after a whole answer belongs to none, and is read by nobody. */
function wordFor({ code }: NodeJS.ErrnoException, answer: IncomingMessage | undefined): string {
  if (!code?.startsWith('HPE')) return 'cut';
  return answer?.complete ? 'whole' : `not HTTP: ${code}`;
}

/** Asks a well app all the time, on one connection after the other. */
function watch() {
  const agent = new Agent({ keepAlive: true });
  const bad: string[] = [];
  const state = { running: true };
  const one = () =>
    new Promise<string>((resolve) => {
      const sent = request(
        { port, host: '127.0.0.1', agent, headers: { host: 'good.test' } },
        (answer) => answer.resume().on('end', () => resolve(String(answer.statusCode))),
      );
      sent.on('error', (error) => resolve(error.message)).end();
    });
  const loop = (async () => {
    let count = 0;
    for (; state.running; count += 1) {
      const said = await one();
      if (said !== '200') bad.push(said);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    agent.destroy();
    return count;
  })();
  return async () => ((state.running = false), { count: await loop, bad });
}

describe('the answers of an app', () => {
  it(`do no harm to another app, and none hangs (${COUNT} of them, FUZZ_SEED=${SEED})`, async () => {
    console.log(`FUZZ_SEED=${SEED} FUZZ_ANSWERS=${COUNT}`);
    answers = hostileAnswers(COUNT, SEED);
    const stop = watch();
    const outcomes: Outcome[] = [];
    const next = { index: 0 };
    const work = async () => {
      for (let index = next.index++; index < answers.length; index = next.index++)
        outcomes[index] = await ask(port, index, LONGEST + GRACE);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    const { count, bad } = await stop();
    expect(bad).toEqual([]);
    expect(count).toBeGreaterThan(10);
    const suspects: number[] = [];
    const toJudge = { index: 0 };
    const judgeNext = async () => {
      for (let index = toJudge.index++; index < outcomes.length; index = toJudge.index++)
        if ((await judge(outcomes[index] as Outcome, index)) !== null) suspects.push(index);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, judgeNext));
    // A machine that stands still looks like a hang, once. A parser that is wrong is so each time.
    const wrong: (string | null)[] = [];
    for (const index of suspects)
      wrong.push(await judge(await ask(port, index, LONGEST + GRACE), index));
    expect(wrong.filter((each) => each !== null)).toEqual([]);
    const counted = Object.entries(
      Object.groupBy(outcomes, ({ status, end }) => `${status} ${end}`),
    );
    console.log(counted.map(([what, list]) => `${what}: ${list?.length}`).join(', '));
  }, 1_200_000);
});

/**
 * @returns what is wrong with it. What Node's own parser (llhttp) refuses may reach a client as 502 or cut, and not as a
 * whole answer. An app that says nothing is waited for; one that has begun well may take its time with
 * the rest.
 */
async function judge({ status, end }: Outcome, index: number): Promise<string | null> {
  const { name, bytes, afterwards } = answers[index] as HostileAnswer;
  const waits = end === 'nothing' && afterwards === 'stall' && saysNothing(bytes);
  const hangs = end === 'nothing' && !waits;
  const isFine = !hangs && !end.startsWith('not HTTP');
  const passedOn = end === 'whole' && status !== 502 && (await isRefused(index));
  if (isFine && !passedOn && (end !== 'open' || (await isUnfinished(index)))) return null;
  const text = JSON.stringify(bytes.toString('latin1').slice(0, 200));
  return `${name} (${afterwards}) ${text}: ${status} ${end}`;
}

/** Nothing, or only whole interim answers: the answer itself is still to come. */
const saysNothing = (bytes: Buffer) =>
  /^(?:HTTP\/1\.[01] 10[02-9](?: [^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n)*$/.test(
    bytes.toString('latin1'),
  );

/** Whether Node's own client says that it is no HTTP. */
const isRefused = async (index: number) => (await askDirectly(index)).startsWith('not HTTP');

/** Whether Node's own client waits for more too. */
const isUnfinished = async (index: number) => (await askDirectly(index)) === 'open';

/** What Node's own client makes of an answer. One that has not begun within a second gets more time. */
async function askDirectly(index: number): Promise<string> {
  const { end } = await ask(liarPort, index, 1000);
  return end === 'nothing' ? (await ask(liarPort, index, LONGEST + GRACE)).end : end;
}
