import { createHash } from 'node:crypto';
import { failure } from '@twofold/runtime/errors';
import type { Call, Reply } from '@twofold/runtime/http';
import { assertSignInAllowed, requireApiKey } from '../sign-in/login.ts';
import { advance } from '../sign-in/advance.ts';
import { digest } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import { isUniqueViolation } from '../sign-in/register.ts';
import { MINUTE, SECOND } from '../base/time.ts';
import { byProvider, noteRefusal } from './callback.ts';
import { toIdentity } from './identity.ts';
import { accountOf } from './linking.ts';
import type { Provider } from './providers.ts';

/**
 * `POST /api/oauth/:provider/callback {idToken, nonce}`: signs in with an id token that a page got
 * from the provider's own script. Off unless the provider has `id_token: true` in the manifest.
 *
 * No flow of this server precedes it, so the page makes a random `nonce`, asks the provider with
 * its SHA-256 in hex, and sends the nonce itself here: an attacker who steals the token has only
 * the hash. Each token signs in once.
 */
export async function signInByIdToken(auth: AuthState, call: Call): Promise<Reply> {
  const { params, body, context } = call;
  requireApiKey(auth, context);
  const provider = await auth.providers.get(params['provider'] ?? '');
  if (!provider?.takesIdTokens || !provider.oidc)
    throw failure.notFound('OAuth provider not configured');
  try {
    const nonce = createHash('sha256').update(body.nonce).digest('hex');
    const claims = await auth.idTokens.verify(provider, body.idToken, nonce);
    await useOnce(auth, provider, nonce, Number(claims['exp']));
    const account = await accountOf(auth, context, toIdentity(provider, claims));
    await assertSignInAllowed(auth, context, account);
    return await advance(auth, call, byProvider(account, `oauth:${provider.name}`));
  } catch (error) {
    await noteRefusal(auth, context, provider, {}, error);
    throw error;
  }
}

/** @throws AppError 400 when the token was used before. */
async function useOnce(
  auth: AuthState,
  { name }: Provider,
  nonce: string,
  exp: number,
): Promise<void> {
  try {
    await auth.db
      .insertInto('auth_oauth_used_states')
      .values({ hash: digest(`${name}|${nonce}`), exp: exp * SECOND + 2 * MINUTE })
      .execute();
  } catch (error) {
    throw isUniqueViolation(error) ? failure.badRequest('Invalid OAuth state') : error;
  }
}
