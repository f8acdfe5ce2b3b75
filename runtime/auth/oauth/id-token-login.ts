import { createHash } from 'node:crypto';
import { failure } from '@twofold/runtime/errors';
import type { Call, Reply } from '@twofold/runtime/http';
import { advance } from '../steps/advance.ts';
import { digest } from '../ids.ts';
import { requireApiKey } from '../sign-in/login.ts';
import type { AuthParts } from '../parts.ts';
import { isUniqueViolation } from '../sign-in/register.ts';
import { MINUTE, SECOND } from '../time.ts';
import { assertSignInAllowed, byProvider, noteRefusal } from './callback.ts';
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
export async function signInByIdToken(parts: AuthParts, call: Call): Promise<Reply> {
  const { params, body, context } = call;
  requireApiKey(parts, context);
  const provider = await parts.providers.get(params['provider'] ?? '');
  if (!provider?.takesIdTokens || !provider.oidc)
    throw failure.notFound('OAuth provider not configured');
  try {
    const nonce = createHash('sha256').update(body.nonce).digest('hex');
    const claims = await parts.idTokens.verify(provider, body.idToken, nonce);
    await useOnce(parts, provider, nonce, Number(claims['exp']));
    const account = await accountOf(parts, context, toIdentity(provider, claims));
    await assertSignInAllowed(parts, context, account);
    return await advance(parts, call, byProvider(account, `oauth:${provider.name}`));
  } catch (error) {
    await noteRefusal(parts, context, provider, {}, error);
    throw error;
  }
}

/** @throws AppError 400 when the token was used before. */
async function useOnce(
  { kernel }: AuthParts,
  { name }: Provider,
  nonce: string,
  exp: number,
): Promise<void> {
  try {
    await kernel.store.db
      .insertInto('auth_oauth_used_states')
      .values({ hash: digest(`${name}|${nonce}`), exp: exp * SECOND + 2 * MINUTE })
      .execute();
  } catch (error) {
    throw isUniqueViolation(error) ? failure.badRequest('Invalid OAuth state') : error;
  }
}
