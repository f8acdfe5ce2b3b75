import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { CORPUS, type Shot } from './corpus.ts';

/** What a shot came to. `code` is that of the first error, or the status. */
export interface Hit {
  readonly shot: Shot;
  readonly code: string;
  readonly milliseconds: number;
}

interface Asked {
  readonly status: number;
  readonly text: string;
}

const agent = new http.Agent({ keepAlive: true });

/** One request; what comes after the first kilobyte of the answer is thrown away. */
export function ask(url: string, { method, path, body }: Omit<Shot, 'name'>): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const request = http.request(url + path, { method, headers, agent }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        if (text.length < 1000) text += chunk.toString('latin1', 0, 1000);
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function shoot(url: string, shot: Shot): Promise<Hit> {
  const before = performance.now();
  const { status, text } = await ask(url, shot);
  const milliseconds = performance.now() - before;
  const code = /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? String(status);
  return { shot, code, milliseconds };
}

/** So many clients send the corpus, each request once, and as fast as they are answered. */
export async function attack(url: string, clients: number, shots = CORPUS): Promise<Hit[]> {
  const waiting = [...shots];
  const hits: Hit[] = [];
  const client = async () => {
    for (let shot = waiting.shift(); shot; shot = waiting.shift())
      hits.push(await shoot(url, shot));
  };
  await Promise.all(Array.from({ length: clients }, client));
  return hits;
}

const BY_ID: Shot = {
  name: 'by id',
  method: 'POST',
  path: '/graphql',
  body: { query: '{ post(id: 7) { title author { name } } }' },
};
const HEALTH: Shot = { name: 'health', method: 'GET', path: '/api/health' };

/** Milliseconds of what others ask, until `signal` is aborted. Run it in a process of its own, where nothing else is counted. */
export async function bystander(url: string, signal: AbortSignal) {
  const times = { health: [] as number[], byId: [] as number[], failed: 0 };
  while (!signal.aborted) {
    const [health, byId] = await Promise.all([shoot(url, HEALTH), shoot(url, BY_ID)]);
    times.health.push(health.milliseconds);
    times.byId.push(byId.milliseconds);
    if (health.code !== '200' || byId.code !== '200') times.failed += 1;
    await sleep(20);
  }
  return times;
}
