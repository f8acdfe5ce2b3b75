import { ConfigError } from '../errors.ts';
import type { Tracing } from './tracing.ts';

/** Where `@opentelemetry/api` 1.x keeps what was registered, for all copies of itself. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/**
 * Makes spans possible, if the manifest asks for them and the project has registered a provider.
 * Otherwise `@opentelemetry/api` is not even loaded.
 *
 * @throws ConfigError when there is a provider and the package is not installed.
 */
export async function openTracing(isOn: boolean): Promise<Tracing | undefined> {
  if (!isOn || !hasProvider()) return undefined;
  const { createTracing } = await import('./otel.ts').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new ConfigError([
      'observability.traces is on, and @opentelemetry/api is not installed: npm install @opentelemetry/api',
    ]);
  });
  return createTracing();
}

function hasProvider(): boolean {
  const registered = Reflect.get(globalThis, REGISTERED) as
    | { readonly trace?: unknown }
    | undefined;
  return registered?.trace !== undefined;
}
