import { call } from '../call.ts';

/**
 * Whether this browser can use a passkey as JSON. A passkey is for a host name, never for an IP
 * address.
 */
export const canUsePasskeys =
  typeof PublicKeyCredential === 'function' &&
  typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function' &&
  !/^[\d.]+$|^\[/.test(location.hostname);

/**
 * Lets the browser ask for a passkey, with the options of the server.
 *
 * @throws when the caller cancels
 */
export async function askPasskey(path: string, body: object): Promise<unknown> {
  const options = await call('POST', path, body);
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const credential = await navigator.credentials.get({ publicKey });
  return (credential as PublicKeyCredential).toJSON();
}
