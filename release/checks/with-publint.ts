import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import type { Pack } from '../read-pack.ts';

/** Problems that publint finds: errors, warnings and suggestions. */
export async function findWithPublint({ bytes, manifest }: Pack): Promise<string[]> {
  const tarball = Uint8Array.from(bytes).buffer;
  const { messages, pkg } = await publint({ pack: { tarball }, strict: true });
  return messages.map(
    (message) => `${manifest.name}, publint: ${formatMessage(message, pkg, { color: false })}`,
  );
}
