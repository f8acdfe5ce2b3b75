import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMetrics } from '../../runtime/core/metrics/registry.ts';
import { renderFamilies } from '../../runtime/core/metrics/render.ts';
import { type ModelsServer, startModels } from './server.ts';
import { startEngine, type TestEngine, USUAL } from './test-engine.ts';

const [BIG, SMALL] = ['org/big', 'org/small'];

describe('the figures of models for Prometheus', () => {
  const metrics = createMetrics();
  let engine: TestEngine;
  let server: ModelsServer;
  beforeAll(async () => {
    engine = await startEngine([BIG, SMALL]);
    server = await startModels({ engine: engine.url, metrics });
  });
  afterAll(async () => {
    await server?.end();
    await engine?.close();
  });

  /** The lines about models, without their comments. */
  const lines = () =>
    renderFamilies(metrics.snapshot())
      .split('\n')
      .filter((line) => line.startsWith('twofold_models_'));
  const having = (...expected: string[]) =>
    expect.poll(lines).toEqual(expect.arrayContaining(expected));

  it('count requests by model, key and code, tokens by direction, and what is loaded', async () => {
    const budget = { requests_per_minute: 3 };
    const made = await server.call('POST', '/api/mlx/keys', { name: 'k', budget });
    const { id, key } = made.body as { id: string; key: string };
    const ask = (model: string, body: object = {}) =>
      server.call(
        'POST',
        '/api/mlx/v1/chat/completions',
        { model, messages: [{ role: 'user', content: 'secret words' }], ...body },
        { authorization: `Bearer ${key}` },
      );
    expect((await ask(BIG)).status).toBe(200);
    expect((await ask(BIG, { stream: true })).status).toBe(200);
    engine.behaviour.status = 500;
    expect((await ask(SMALL)).status).toBe(500);
    Object.assign(engine.behaviour, USUAL);
    expect((await ask(SMALL)).status).toBe(429);
    const requests = 'twofold_models_requests_total';
    await having(
      `${requests}{model="${BIG}",key="${id}",code="200"} 2`,
      `${requests}{model="${SMALL}",key="${id}",code="500"} 1`,
      `${requests}{model="${SMALL}",key="${id}",code="429"} 1`,
      `twofold_models_tokens_total{model="${BIG}",key="${id}",direction="in"} 14`,
      `twofold_models_tokens_total{model="${BIG}",key="${id}",direction="out"} 6`,
      'twofold_models_loaded 2',
      'twofold_models_queue 0',
      `twofold_models_time_to_first_token_seconds_count{model="${BIG}"} 2`,
      `twofold_models_time_to_first_token_seconds_bucket{model="${BIG}",le="+Inf"} 2`,
    );
    expect(lines().filter((line) => line.includes(`tokens_total{model="${SMALL}"`))).toEqual([]);
    expect(lines().join('\n')).not.toMatch(/secret|mk_/);
    await server.call('POST', '/api/mlx/stop', { model: SMALL });
    await having('twofold_models_loaded 1');
  });

  it('count a request whose client has left as 499', async () => {
    let run = () => {};
    const held = new Promise<void>((resolve) => (run = resolve));
    engine.behaviour.before = () => held;
    const abort = new AbortController();
    const before = engine.seen.length;
    const asked = fetch(`${server.url}/api/mlx/v1/chat/completions`, {
      method: 'POST',
      signal: abort.signal,
      headers: { authorization: `Bearer ${server.token}` },
      body: JSON.stringify({ model: BIG, messages: [{ role: 'user', content: 'x' }] }),
    }).catch(() => null);
    await expect.poll(() => engine.seen.length).toBe(before + 1);
    abort.abort();
    await asked;
    await having(
      `twofold_models_requests_total{model="${BIG}",key="operator",code="499"} 1`,
      'twofold_models_queue 0',
    );
    run();
  });
});
