import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { MANY, ONE } from './mcp-documents.ts';

// Figure of client.md, §9: the CPU of a call of a document through /mcp beside the same over /graphql, alternating in one run.

const ROUNDS = 10;
const CALLS = 500;
const agent = new Agent({ keepAlive: true, maxSockets: 4 });
const child = fork(new URL('mcp-server.ts', import.meta.url), {
  stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
});
const [url] = (await once(child, 'message')) as [string];

function post(path: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', agent, headers: { 'content-type': 'application/json' } };
    request(url + path, options, (response) => response.resume().on('end', resolve))
      .on('error', reject)
      .end(body);
  });
}

async function cpu(): Promise<number> {
  child.send('cpu');
  const [{ user, system }] = (await once(child, 'message')) as [NodeJS.CpuUsage];
  return user + system;
}

async function measured(path: string, body: string): Promise<number> {
  const before = await cpu();
  for (let index = 0; index < CALLS; index += 4)
    await Promise.all([0, 1, 2, 3].map(() => post(path, body)));
  return ((await cpu()) - before) / CALLS;
}

const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[numbers.length >> 1]!;

for (const [name, query, variables] of [
  ['One', ONE, { id: '7' }],
  ['Many', MANY, {}],
] as const) {
  const plain = JSON.stringify({ query, variables });
  const params = { name, arguments: variables };
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const [graphql, mcp]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS + 2; round++) {
    const pair = [await measured('/graphql', plain), await measured('/mcp', call)] as const;
    if (round < 2) continue;
    graphql.push(pair[0]);
    mcp.push(pair[1]);
  }
  const ratios = mcp.map((value, index) => value / graphql[index]!);
  console.log(
    `${name}: /graphql ${median(graphql).toFixed(1)} µs, /mcp ${median(mcp).toFixed(1)} µs, ratio ${median(ratios).toFixed(2)}`,
  );
}
child.kill();
agent.destroy();
