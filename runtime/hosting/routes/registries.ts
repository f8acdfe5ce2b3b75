import { failure } from '@twofold/runtime/errors';
import { type Call, reply } from '@twofold/runtime/http';
import type { Core } from '../core.ts';
import { EngineError } from '../engine/errors.ts';
import { parseRegistryHost } from '../registries/host.ts';
import { withoutLogin } from '../registries/refused.ts';

/** Milliseconds that a registry may take to answer a check. */
const CHECK_TIMEOUT = 20_000;

/** Routes for the users of private registries. */
export function registryHandlers({ registries, connection }: Core) {
  const hostOf = ({ params }: Call) => parseRegistryHost(params['host'] as string);
  return {
    async listRegistries() {
      const list = await registries.list();
      return reply(200, { registries: list, total: list.length });
    },

    async putRegistry(call: Call<{ readonly username: string; readonly password: string }>) {
      return reply(200, await registries.put(hostOf(call), call.body));
    },

    async deleteRegistry(call: Call) {
      await registries.delete(hostOf(call));
      return reply(200, { status: 'deleted' });
    },

    async checkRegistry(call: Call) {
      const login = await registries.find(hostOf(call));
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
  };
}
