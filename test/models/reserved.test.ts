import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ModelsServer, startModels } from './server.ts';
import { startEngine, type TestEngine, USUAL } from './test-engine.ts';

const BIG = 'org/big';
const LIMIT = 1_000_000;
const messages = [{ role: 'user', content: 'Hi' }];
const image = { type: 'image_url', image_url: { url: 'https://example.org/a.png' } };

describe('what a request to an attached server may cost', () => {
  let engine: TestEngine;
  let server: ModelsServer;
  beforeAll(async () => {
    engine = await startEngine([BIG]);
    server = await startModels({ engine: engine.url });
  });
  afterAll(async () => {
    await server?.end();
    await engine?.close();
  });
  afterEach(() => void Object.assign(engine.behaviour, USUAL));

  const make = async (budget: object): Promise<{ id: string; key: string }> =>
    (await server.call('POST', '/api/mlx/keys', { name: 'k', budget })).body;
  const ask = (key: string, body: object, path = 'chat/completions') =>
    server.call(
      'POST',
      `/api/mlx/v1/${path}`,
      { model: BIG, ...body },
      { authorization: `Bearer ${key}` },
    );
  const totalOf = async (id: string) =>
    (await server.call('GET', `/api/mlx/usage?key=${id}&by=hour`)).body.total;

  it.each([
    ['chat/completions', { messages, max_tokens: 1000 }, 1000],
    ['chat/completions', { messages, max_tokens: 1000, n: 3 }, 3000],
    ['chat/completions', { messages, max_completion_tokens: 1, max_tokens: 1000 }, 1000],
    ['chat/completions', { messages, max_completion_tokens: 1000, max_tokens: 1 }, 1000],
    ['completions', { prompt: 'a', max_tokens: 1000, best_of: 4, n: 2 }, 4000],
    ['completions', { prompt: ['a', 'b', 'c'], max_tokens: 1000 }, 3000],
    ['completions', { prompt: ['a', 'b', 'c'], max_tokens: 1000, n: 2 }, 6000],
    ['completions', { prompt: [1, 2, 3], max_tokens: 1000 }, 1000],
    ['completions', { prompt: [[1, 2], [3]], max_tokens: 1000 }, 2000],
    ['responses', { input: 'Hi', max_output_tokens: 1000 }, 1000],
    ['messages', { messages, max_tokens: 1000 }, 1000],
  ] as const)('of %s %j is reserved for each answer', async (path, body, output) => {
    const { key } = await make({ tokens_per_minute: LIMIT });
    const { status, headers } = await ask(key, body, path);
    expect(status).toBe(200);
    const reserved = LIMIT - Number(headers.get('x-ratelimit-remaining-tokens'));
    expect(reserved).toBeGreaterThan(output);
    expect(reserved).toBeLessThan(output + 300);
  });

  it('is little for a short prompt, whatever steers the answer', async () => {
    const steering = { temperature: 0.5, user: 'u'.repeat(500), stop: ['s'.repeat(100)] };
    for (const [path, body, most] of [
      ['chat/completions', { messages: [{ role: 'user', content: 'H' }], max_tokens: 1 }, 105],
      ['completions', { prompt: 'H', max_tokens: 1 }, 12],
      ['embeddings', { input: 'H' }, 12],
    ] as const) {
      const { key } = await make({ tokens_per_minute: LIMIT });
      const { status, headers } = await ask(key, { ...body, ...steering }, path);
      expect([path, status]).toEqual([path, 200]);
      const reserved = LIMIT - Number(headers.get('x-ratelimit-remaining-tokens'));
      expect(reserved, path).toBeGreaterThan(1);
      expect(reserved, path).toBeLessThan(most);
    }
  });

  it('is bounded by what was reserved, where the request has no bound', async () => {
    const { key } = await make({ tokens_per_minute: LIMIT });
    const { headers } = await ask(key, { messages, n: 3 });
    const reserved = LIMIT - Number(headers.get('x-ratelimit-remaining-tokens'));
    const { max_tokens: bound } = engine.seen.at(-1)!.body;
    expect(bound).toBeGreaterThan(7000);
    expect(bound * 3).toBeLessThan(reserved);
    expect(reserved).toBeLessThan(bound * 3 + 300);
  });

  it('counts the whole text of a request, and a query with each document', async () => {
    const text = 'word '.repeat(1000);
    for (const [path, body, least] of [
      ['chat/completions', { messages, functions: [{ name: 'f', description: text }] }, 5000],
      ['completions', { prompt: 'a', suffix: text }, 5000],
      ['embeddings', { input: [text, text] }, 10_000],
      ['rerank', { query: text, documents: ['a', { text: 'b' }, 'c'] }, 15_000],
    ] as const) {
      const { key } = await make({ tokens_per_minute: LIMIT });
      const { status, headers } = await ask(key, { ...body, max_tokens: 1 }, path);
      expect([path, status]).toEqual([path, 200]);
      const reserved = LIMIT - Number(headers.get('x-ratelimit-remaining-tokens'));
      expect(reserved).toBeGreaterThan(least);
      expect(reserved).toBeLessThan(least + 6000);
    }
  });

  it.each([
    ['max_tokens', { max_tokens: -1 }],
    ['max_tokens', { max_tokens: 0 }],
    ['max_tokens', { max_tokens: '100000' }],
    ['max_completion_tokens', { max_completion_tokens: 1.5 }],
    ['max_tokens', { max_completion_tokens: 5, max_tokens: 1e300 }],
    ['n', { n: '100' }],
    ['best_of', { best_of: -2 }],
    ['n_predict', { n_predict: 100_000, max_tokens: 1 }],
    ['chat_template', { chat_template: '{% for i in range(9999) %}x{% endfor %}' }],
    ['messages[0].content[1]', { messages: [{ role: 'user', content: [{ text: 'x' }, image] }] }],
  ])('is not known with %s of %j: 400, and the engine is not asked', async (param, body) => {
    const { key, id } = await make({ tokens_per_day: LIMIT });
    const before = engine.seen.length;
    expect(await ask(key, { messages, ...body })).toMatchObject({
      status: 400,
      body: { error: { type: 'invalid_request_error', param } },
    });
    expect(engine.seen.length).toBe(before);
    expect((await totalOf(id)).requests).toBe(0);
    // A key without such a budget asks the server as it is.
    const { key: free } = await make({ requests_per_minute: 10 });
    expect((await ask(free, { messages, ...body })).status).toBe(200);
    expect(engine.seen.at(-1)!.body).toMatchObject(body);
  });

  it('is refused in the words of the API that was asked', async () => {
    const { key } = await make({ tokens_per_day: LIMIT });
    expect(await ask(key, { input: 'Hi', max_output_tokens: -1 }, 'responses')).toMatchObject({
      status: 400,
      body: { error: { param: 'max_output_tokens' } },
    });
  });

  /** Asks for a whole answer and leaves when the engine has begun. */
  async function leave(key: string, body: object): Promise<void> {
    const abort = new AbortController();
    const before = engine.left;
    const [seen, pieces] = [engine.seen.length, Array.from({ length: 200 }, () => 'x')];
    Object.assign(engine.behaviour, { pieces, delay: 20 });
    const asked = fetch(`${server.url}/api/mlx/v1/chat/completions`, {
      method: 'POST',
      signal: abort.signal,
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: BIG, messages, max_tokens: 300, ...body }),
    }).catch((error: Error) => error.name);
    const wanted = engine.behaviour.streams === 'refused' ? seen + 2 : seen + 1;
    await expect.poll(() => engine.seen.length).toBe(wanted);
    await new Promise((resolve) => setTimeout(resolve, 200));
    abort.abort();
    expect(await asked).toBe('AbortError');
    await expect.poll(() => engine.left, { timeout: 1000 }).toBe(before + 1);
  }

  it.each([[{ tokens_per_day: LIMIT }], [{}]])(
    'is what was made when the client of a whole answer leaves (budget %j)',
    async (budget) => {
      const { key, id } = await make(budget);
      await leave(key, {});
      await expect.poll(async () => (await totalOf(id)).requests).toBe(1);
      const { output_tokens: made, failed } = await totalOf(id);
      expect(failed).toBe(0);
      expect(made).toBeGreaterThanOrEqual(2);
      expect(made).toBeLessThan(100);
    },
  );

  it('is what was reserved when the client leaves a server that has no streams', async () => {
    const { key, id } = await make({ tokens_per_day: LIMIT });
    engine.behaviour.streams = 'refused';
    const answer = await ask(key, { messages, max_tokens: 300 });
    expect(answer).toMatchObject({
      status: 200,
      body: { choices: [{ message: { content: 'Hello!' } }], usage: { total_tokens: 10 } },
    });
    await expect.poll(async () => (await totalOf(id)).output_tokens).toBe(3);
    engine.behaviour.delay = 20;
    engine.behaviour.whole = 5000;
    await leave(key, {});
    await expect.poll(async () => (await totalOf(id)).output_tokens).toBe(303);
  });

  it('is read of a whole answer too, from a server that ignores that a stream was asked for', async () => {
    const { key, id } = await make({ tokens_per_day: LIMIT });
    engine.behaviour.streams = 'ignored';
    expect((await ask(key, { messages })).body.choices[0].message.content).toBe('Hello!');
    await expect.poll(async () => (await totalOf(id)).output_tokens).toBe(3);
  });
});
