import { failure } from '@twofold/runtime/errors';
import { closed, count, flag, list, object, orNull, text } from '@twofold/schema/shapes';
import { reply } from '@twofold/runtime/http';
import { EngineError } from '../engine/errors.ts';
import { parseRegistryHost } from '../registries/host.ts';
import { withoutLogin } from '../registries/refused.ts';
import { deleted, flow, USUAL } from './flow.ts';

/** Milliseconds that a registry may take to answer a check. */
const CHECK_TIMEOUT = 20_000;

const registry = object(
  { host: text, username: orNull('string'), source: { enum: ['api', 'docker-config'] } },
  ['host', 'username', 'source'],
);

export const listRegistries = flow('GET /api/registries', {
  needs: 'system:read',
  summary: 'Lists the registries that have a user',
  answers: {
    200: [
      'The registries, without passwords',
      object({ registries: list(registry), total: count }, ['registries', 'total']),
    ],
  },
  refuses: USUAL,
  async handle(_call, { registries }) {
    const found = await registries.list();
    return reply(200, { registries: found, total: found.length });
  },
});

export const putRegistry = flow('PUT /api/registries/:host', {
  needs: 'system:write',
  summary: 'Sets the user with whom images of a registry are pulled',
  audit: { target: 'registry:{host}', values: ['username'] },
  body: closed(
    {
      // A user name of HTTP's basic authentication: without a colon and control characters.
      username: { type: 'string', pattern: '^[^:\\x00-\\x1f\\x7f]{1,500}$' },
      password: { type: 'string', pattern: '^[^\\x00-\\x1f\\x7f]{1,20000}$' },
    },
    ['username', 'password'],
  ),
  answers: { 200: ['The registry, without its password', registry] },
  refuses: USUAL,
  handle: async ({ params, body }, { registries }) =>
    reply(200, await registries.put(parseRegistryHost(params.host), body)),
});

export const deleteRegistry = flow('DELETE /api/registries/:host', {
  needs: 'system:write',
  summary: 'Forgets the user of a registry',
  audit: { target: 'registry:{host}' },
  answers: { 200: ['It was removed'] },
  refuses: [...USUAL, 404, 409],
  async handle({ params }, { registries }) {
    await registries.delete(parseRegistryHost(params.host));
    return deleted();
  },
});

export const checkRegistry = flow('POST /api/registries/:host/check', {
  needs: 'system:write',
  summary: 'Tries the user at the registry',
  audit: { target: 'registry:{host}' },
  answers: {
    200: [
      'Whether the registry takes the user, and else why not',
      object({ ok: flag, message: text }, ['ok']),
    ],
  },
  refuses: [...USUAL, 404, 503],
  async handle({ params }, { registries, connection }) {
    const login = await registries.find(parseRegistryHost(params.host));
    if (!login) throw failure.notFound('Registry not found');
    const { images } = connection.engine();
    try {
      await images.signIn(login, AbortSignal.timeout(CHECK_TIMEOUT));
      return reply(200, { ok: true });
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      return reply(200, { ok: false, message: withoutLogin(error.message, login) });
    }
  },
});
