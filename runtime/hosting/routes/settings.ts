import type { HostingModel } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import { type Call, reply } from '@twofold/runtime/http';
import type { Core } from '../core.ts';
import type { HostedApp } from '../records/app.ts';
import type { AppFields } from '../records/fields.ts';
import { ENV_KEY, toEnv } from '../records/names.ts';
import { MASK, showApp, type AddressOf } from '../records/view.ts';

/** Routes for the environment and the secrets of an app. */
export function settingHandlers({
  core: { apps },
  addressOf,
  model,
}: {
  readonly core: Core;
  readonly addressOf: AddressOf;
  readonly model: HostingModel;
}) {
  const named = ({ params }: Call) => apps.byName(params['name'] as string);
  const show = (app: HostedApp) =>
    reply(200, showApp(app, { addressOf, port: model.defaults.port }));
  return {
    async putEnv(call: Call<NonNullable<AppFields['env']>>) {
      const app = named(call);
      return show(await apps.update(app.id, { env: withoutMasks(app, toEnv(call.body)) }));
    },

    async putSecret(call: Call<{ readonly value: string }>) {
      const app = named(call);
      const key = call.params['key'] as string;
      if (!new RegExp(ENV_KEY).test(key))
        throw failure.badRequest(
          "the secret's key must consist of letters, digits and _, and not begin with a digit",
        );
      if (call.body.value.includes('\0'))
        throw failure.badRequest('value must not contain a NUL byte');
      const { [key]: _shadowed, ...env } = app.env;
      return show(
        await apps.update(app.id, { env, secrets: { ...app.secrets, [key]: call.body.value } }),
      );
    },

    async deleteSecret(call: Call) {
      const app = named(call);
      const { [call.params['key'] as string]: known, ...secrets } = app.secrets;
      if (known === undefined) throw failure.notFound('Secret not found');
      return show(await apps.update(app.id, { secrets }));
    },
  };
}

/** Drops masked secrets, so that a body made from an earlier response does not overwrite them. */
export function withoutMasks(app: HostedApp, env: HostedApp['env']): HostedApp['env'] {
  return Object.fromEntries(
    Object.entries(env).filter(([key, value]) => !(value === MASK && key in app.secrets)),
  );
}
