import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { API_KEY, type ModelsServer, startModels } from './server.ts';
import { startEngine, type TestEngine, USUAL } from './test-engine.ts';

const BIG = 'org/big';
const OTHER = 'org/other';

describe('a key for models', () => {
  let engine: TestEngine;
  let server: ModelsServer;
  beforeAll(async () => {
    engine = await startEngine([BIG, OTHER]);
    server = await startModels({
      engine: engine.url,
      models: { prices: { [BIG]: { input: 0.5, output: 1.5 } } },
    });
    await server.call('POST', '/api/mlx/start', { model: BIG });
  });
  afterAll(async () => {
    await server?.end();
    await engine?.close();
  });
  afterEach(() => void Object.assign(engine.behaviour, USUAL));

  const make = async (body: object): Promise<{ id: string; key: string; prefix: string }> => {
    const made = await server.call('POST', '/api/mlx/keys', { name: 'agent', ...body });
    expect(made).toMatchObject({ status: 201, body: { key: expect.stringMatching(/^mk_\w+/) } });
    return made.body;
  };
  const ask = (key: string, body: object = {}) =>
    server.call(
      'POST',
      '/api/mlx/v1/chat/completions',
      {
        model: BIG,
        messages: [{ role: 'user', content: 'my secret prompt' }],
        max_tokens: 20,
        ...body,
      },
      { authorization: `Bearer ${key}` },
    );
  const useOf = async (id: string) =>
    (await server.call('GET', '/api/mlx/keys')).body.keys.find((key: any) => key.id === id).use;
  const usageOf = async (id: string) =>
    (await server.call('GET', `/api/mlx/usage?key=${id}&by=hour`)).body;
  const settled = (id: string, tokens: number) =>
    expect.poll(async () => (await useOf(id)).tokens_today).toBe(tokens);

  it('opens the models and nothing else, as bearer or as x-api-key', async () => {
    const { key, id } = await make({});
    const headers = { authorization: `Bearer ${key}` };
    expect((await ask(key)).status).toBe(200);
    const claude = new Anthropic({ baseURL: `${server.url}/api/mlx`, apiKey: key, maxRetries: 0 });
    const said = await claude.messages.create({
      model: BIG,
      max_tokens: 9,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(said.usage).toMatchObject({ input_tokens: 7, output_tokens: 3 });
    for (const [method, path] of [
      ['GET', '/api/mlx/models'],
      ['GET', '/api/mlx/keys'],
      ['POST', '/api/mlx/stop'],
      ['DELETE', `/api/mlx/keys/${id}`],
    ] as const)
      expect([path, (await server.call(method, path, undefined, headers)).status]).toEqual([
        path,
        401,
      ]);
    expect((await ask('mk_000000000000_no')).status).toBe(401);
    const [row] = await server.kernel.store.db
      .selectFrom('hosting_model_keys')
      .selectAll()
      .where('id', '=', id)
      .execute();
    expect(JSON.stringify(row)).not.toContain(key.split('_')[2]);
  });

  it('is refused another model, and changes with the next request', async () => {
    const { key, id } = await make({ models: ['org/oth*'] });
    expect(await ask(key)).toMatchObject({ status: 403, body: { error: expect.any(String) } });
    const client = new OpenAI({ baseURL: `${server.url}/api/mlx/v1`, apiKey: key, maxRetries: 0 });
    expect((await client.models.list()).data.map((model) => model.id)).toEqual([OTHER]);
    expect((await ask(key, { model: OTHER })).status).toBe(200);
    await server.call('PATCH', `/api/mlx/keys/${id}`, { models: [BIG] });
    expect((await ask(key)).status).toBe(200);
    expect((await ask(key, { model: OTHER })).status).toBe(403);
    await server.call('PATCH', `/api/mlx/keys/${id}`, { expires_in: '1s' });
    await expect.poll(async () => (await ask(key)).status, { timeout: 5000 }).toBe(401);
    await server.call('PATCH', `/api/mlx/keys/${id}`, { expires_in: null });
    expect((await ask(key)).status).toBe(200);
    expect((await server.call('DELETE', `/api/mlx/keys/${id}`)).status).toBe(204);
    expect((await ask(key)).status).toBe(401);
    expect((await server.call('DELETE', `/api/mlx/keys/${id}`)).status).toBe(404);
  });

  it('lets exactly 50 of 100 requests at once pass, and says when the next may', async () => {
    const { key } = await make({ budget: { requests_per_minute: 50 } });
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(key)));
    const passed = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    expect([passed.length, refused.length]).toEqual([50, 50]);
    const [{ headers, body }] = refused as [(typeof refused)[0]];
    expect(body.error).toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_exceeded' });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(50);
    expect(headers.get('x-ratelimit-limit-requests')).toBe('50');
    expect(headers.get('x-ratelimit-remaining-requests')).toBe('0');
    expect(headers.get('x-ratelimit-reset-requests')).toMatch(/^\d+s$/);
    expect(passed[0]!.headers.get('x-twofold-model')).toBe(BIG);
  });

  it('says what is left of the tokens of a minute, and what a refused request would have cost', async () => {
    const { key } = await make({ budget: { tokens_per_minute: 1000 } });
    const { headers } = await ask(key);
    expect(headers.get('x-ratelimit-limit-tokens')).toBe('1000');
    expect(headers.get('x-ratelimit-reset-tokens')).toMatch(/^(60|61)s$/);
    const remaining = Number(headers.get('x-ratelimit-remaining-tokens'));
    expect(remaining).toBeGreaterThan(600);
    expect(remaining).toBeLessThan(1000 - 20);
    expect(headers.has('x-ratelimit-limit-requests')).toBe(false);
    const refused = await ask(key, { max_tokens: 1000 });
    expect(refused.status).toBe(429);
    expect(refused.body.error.message).toMatch(
      /^The budget tokens_per_minute of 1000 is used up; this request may cost 1\d\d\d tokens$/,
    );
    // What the first did cost is settled, and no longer what it might have.
    expect(refused.headers.get('x-ratelimit-remaining-tokens')).toBe('990');
  });

  it('never passes a budget of tokens or of money, with what runs now', async () => {
    let run = () => {};
    const all = new Promise<void>((resolve) => (run = resolve));
    engine.behaviour.before = () => all;
    const limits = [
      { tokens_per_minute: 1000 },
      { tokens_per_day: 1000 },
      { money_per_day: 0.0006 },
    ];
    const keys = await Promise.all(limits.map((budget) => make({ budget })));
    const before = engine.seen.length;
    const asked = keys.flatMap(({ key }) => Array.from({ length: 30 }, () => ask(key)));
    // Those that are refused do not wait for the engine.
    const refused = new Set<number>();
    asked.forEach(
      (each, index) => void each.then(({ status }) => status === 429 && refused.add(index)),
    );
    await expect
      .poll(() => refused.size + engine.seen.length - before, { timeout: 20_000 })
      .toBe(90);
    const uses = await Promise.all(keys.map(({ id }) => useOf(id)));
    for (const { tokens_in_minute: tokens } of uses) expect(tokens).toBeGreaterThan(100);
    expect(uses[0]!.tokens_in_minute).toBeLessThanOrEqual(1000);
    expect(uses[1]!.tokens_today).toBeLessThanOrEqual(1000);
    expect(uses[2]!.money_today).toBeLessThanOrEqual(0.0006);
    run();
    const answers = await Promise.all(asked);
    for (const [index, { id }] of keys.entries()) {
      const own = answers.slice(index * 30, index * 30 + 30);
      const passed = own.filter(({ status }) => status === 200).length;
      expect(passed).toBeGreaterThan(0);
      await settled(id, passed * 10);
      const { total } = await usageOf(id);
      expect(total).toMatchObject({
        requests: passed,
        input_tokens: passed * 7,
        output_tokens: passed * 3,
      });
      expect(total.money).toBeCloseTo((passed * (7 * 0.5 + 3 * 1.5)) / 1e6, 9);
    }
  });

  it('tells Anthropic clients in their own form that a budget is used up', async () => {
    const { key } = await make({ budget: { requests_per_minute: 1 } });
    const claude = new Anthropic({ baseURL: `${server.url}/api/mlx`, apiKey: key, maxRetries: 0 });
    const request = {
      model: BIG,
      max_tokens: 9,
      messages: [{ role: 'user' as const, content: 'x' }],
    };
    await claude.messages.create(request);
    await expect(claude.messages.create(request)).rejects.toBeInstanceOf(Anthropic.RateLimitError);
  });

  it('pays nothing for what failed, and for what it left only what was made', async () => {
    const { key, id } = await make({ budget: { tokens_per_day: 100_000 } });
    engine.behaviour.status = 500;
    expect((await ask(key)).status).toBe(500);
    Object.assign(engine.behaviour, { status: null, cutAfter: 2, delay: 30 });
    expect((await ask(key)).status).toBe(502);
    expect((await ask(key, { stream: true })).text).toContain('before its answer was complete');
    await settled(id, 0);
    expect((await usageOf(id)).total).toMatchObject({ requests: 3, failed: 3, output_tokens: 0 });
    const pieces = Array.from({ length: 200 }, () => 'x');
    Object.assign(engine.behaviour, { cutAfter: null, delay: 20, pieces });
    const client = new OpenAI({ baseURL: `${server.url}/api/mlx/v1`, apiKey: key, maxRetries: 0 });
    const stream = await client.chat.completions.create({
      ...{ model: BIG, messages: [{ role: 'user', content: 'x' }], max_tokens: 300, stream: true },
    });
    let read = 0;
    const before = engine.left;
    for await (const _chunk of stream) if ((read += 1) === 3) break;
    await expect.poll(() => engine.left, { timeout: 1000 }).toBe(before + 1);
    await expect.poll(async () => (await usageOf(id)).total.requests).toBe(4);
    const { output_tokens: made } = (await usageOf(id)).total;
    expect(made).toBeGreaterThanOrEqual(3);
    expect(made).toBeLessThan(100);
  });

  it('says of what model the money is not known, and keeps words and keys out of the log', async () => {
    const { key, id } = await make({});
    await ask(key, { model: OTHER });
    await expect.poll(async () => (await usageOf(id)).total.requests).toBe(1);
    expect(await usageOf(id)).toMatchObject({
      usage: [{ key: id, model: OTHER, requests: 1, money: 0 }],
      unpriced: [OTHER],
    });
    expect((await server.call('GET', '/api/mlx/usage?by=day&from=2099-01-01')).body.usage).toEqual(
      [],
    );
    expect((await server.call('GET', '/api/mlx/usage?from=never')).status).toBe(400);
    const logged = server.logs.join('');
    for (const secret of ['my secret prompt', 'Hello!', key]) expect(logged).not.toContain(secret);
  });

  it("may be an API key of the server or a user's own, which is refused when its budget is used up", async () => {
    const users = await startModels({ engine: engine.url, users: true });
    const root = { authorization: '', 'x-api-key': API_KEY };
    const admin = (path: string, body: object) =>
      users.call('POST', `/api/auth/admin/${path}`, body, root);
    const person = await users.call('POST', '/api/auth/register', {
      ...{ email: 'someone@example.org', password: 'correct horse battery staple' },
    });
    const role = await admin('roles', { name: 'Prompter', permissions: ['models:read'] });
    const path = `/api/auth/admin/users/${person.body.id}/role`;
    expect((await users.call('PUT', path, { role_id: role.body.id }, root)).status).toBe(200);
    for (const owner of [{}, { user_id: person.body.id }]) {
      const scopes = ['models:read'];
      const made = await admin('api-keys', { name: 'own', scopes, ...owner });
      expect(made.status).toBe(201);
      const { id, key } = made.body;
      const use = async () =>
        users.call(
          'POST',
          '/api/mlx/v1/chat/completions',
          { model: BIG, messages: [{ role: 'user', content: 'x' }] },
          { authorization: '', 'x-api-key': key },
        );
      expect((await use()).status).toBe(200);
      const budget = { requests_per_minute: 2 };
      const changed = await users.call('PATCH', `/api/mlx/keys/${id}`, { budget }, root);
      expect(changed.status).toBe(200);
      const answers = [await use(), await use(), await use()];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
      expect(answers[2]!.headers.get('retry-after')).toMatch(/^\d+$/);
    }
    await users.end();
  });

  it('may be an API key of the server, which gets a budget too', async () => {
    const own = 'key_01ARZ3NDEKTSV4RRFFQ69G5FAV';
    const budget = { requests_per_minute: 2 };
    expect(await server.call('PATCH', `/api/mlx/keys/${own}`, { budget })).toMatchObject({
      status: 200,
      body: { id: own, budget, models: ['*'] },
    });
    expect((await server.call('PATCH', '/api/mlx/keys/nobody', { budget })).status).toBe(404);
    expect(
      (await server.call('POST', '/api/mlx/keys', { name: 'x', budget: { tokens: 1 } })).status,
    ).toBe(400);
  });
});
