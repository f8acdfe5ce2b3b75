import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { models } from '../../runtime/models/index.ts';
import { MODEL_DEFAULTS } from './server.ts';
import { startServer, type TestServer } from '../hosting/server.ts';

/** The models as a part of the hosting module, with no container engine there. */
describe('language models in the hosting API', () => {
  let operating: TestServer;
  let other: TestServer;
  const env = { DOCKER_HOST: 'unix:///nonexistent/docker.sock', PATH: '/nonexistent' };
  beforeAll(async () => {
    const model = {
      models: { ...MODEL_DEFAULTS, engine: 'mlx', list: ['tests/mine-4bit'] },
    };
    const options = { env, model, parts: [models()] };
    operating = await startServer(options);
    other = await startServer({ ...options, folder: operating.folder });
  });
  afterAll(async () => {
    await other?.stop();
    await operating?.end();
  });

  it('are listed though no container engine and no model engine is there', async () => {
    const { status, body } = await operating.api('GET', '/api/mlx/models');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      eligible: false,
      engine: null,
      running: null,
      reason: expect.stringContaining('mlx_lm.server'),
    });
    expect(body.models.find(({ id }: any) => id === 'tests/mine-4bit')).toMatchObject({
      format: 'mlx',
      status: 'available',
    });
  });

  it('answer on every process that shares the database, in the same words', async () => {
    for (const [method, path, body] of [
      ['GET', '/api/mlx/models/tests/mine-4bit'],
      ['POST', '/api/mlx/start', { model: 'tests/mine-4bit' }],
      ['POST', '/api/mlx/models/no%2Fbody/download'],
      ['POST', '/api/mlx/v1/chat/completions', { messages: [] }],
    ] as const) {
      const [one, two] = [
        await operating.api(method, path, body),
        await other.api(method, path, body),
      ];
      expect(two.status).toBe(one.status);
      expect(two.body).toEqual(one.body);
    }
  });
});
