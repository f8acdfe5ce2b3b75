import { AppError } from '@twofold/runtime/errors';
import type { Core } from '../host/core.ts';
import { EngineError, isRefusal } from '../engine/errors.ts';
import { registryRefused, wantsLogin, withoutLogin } from '../registries/refused.ts';
import { imageTag } from '../host/containers.ts';

interface BuiltImage {
  /** The name of the app. */
  readonly name: string;
  readonly deployment: number;
  readonly id: string;
  readonly signal: AbortSignal;
  /** Is told what the log of the build says. */
  readonly onLine: (line: string) => void;
}

/**
 * Pushes an image that was built here to `hosting.registry`, if other machines have to run it.
 *
 * @returns the name by which a container runs the image: with its digest in the registry, so that
 * every machine runs the same bytes, or our own tag, which only this machine has.
 * @throws AppError 422 when the registry refuses, 502 when it does not take the image.
 */
export async function publishImage(core: Core, built: BuiltImage): Promise<string> {
  const { registry } = core.model;
  const elsewhere = core.connection.info()?.oneMachine === false;
  if (registry === null || !elsewhere) return imageTag(core, built, built.deployment);
  const repository = `${registry}/${built.name}`;
  const reference = `${repository}:${core.naming.instance}-${built.deployment}`;
  built.onLine(`Pushing ${reference}`);
  const digest = await push(core, reference, built);
  built.onLine(`Pushed ${repository}@${digest}`);
  return `${repository}@${digest}`;
}

/** The tag is not kept here: our own tag keeps the image. */
async function push(core: Core, reference: string, { id, signal }: BuiltImage): Promise<string> {
  const { images } = core.connection.engine();
  const login = await core.registries.loginFor(reference);
  await images.tag(id, reference);
  try {
    return await images.push(reference, signal, login);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    if (wantsLogin(error, reference, login))
      throw registryRefused(reference, login, error, 'pushed');
    if (!isRefusal(error)) throw error;
    const why = withoutLogin(error.message, login);
    throw new AppError(502, 'PUSH_FAILED', `Image ${reference} cannot be pushed: ${why}`, {
      cause: error,
    });
  } finally {
    await images.untag(reference).catch(() => {});
  }
}
