import { adminRoutes } from './admin-routes.ts';
import { passkeyRoutes } from './passkey-routes.ts';
import { organizationRoutes } from './organization-routes.ts';
import {
  ADDRESS,
  API_KEY,
  CLIENT,
  CODE_CHALLENGE,
  CODE_VERIFIER,
  CREDENTIAL,
  DURATION,
  ERROR,
  EXPORT,
  ID,
  LOGIN,
  MESSAGE,
  NAMES,
  NONCE,
  object,
  OPTIONAL_TOKEN,
  OWN_FIELDS,
  OWN_KEY,
  OWN_KEYS,
  PASSWORD,
  SECURITY,
  SESSION,
  SESSIONS,
  REAUTHENTICATED,
  SHORT,
  CONFIRM,
  STEP,
  TIME,
  TOKEN,
  USER,
} from './route-shapes.ts';
import type { RouteSpec } from '../routes/route.ts';
import { secondFactorRoutes } from './second-factor-routes.ts';

const tag = 'auth';
const ok = (description: string, schema: RouteSpec['responses'][number]['schema']) => ({
  description,
  ...(schema && { schema }),
});
const refused = (description: string) => ({ description, schema: ERROR });
/** A sign-in that has a step left. */
const step = { 202: ok('A step is left: a second factor, or another password', STEP) };
const done = { 200: ok('Done', MESSAGE) };
/** Fields of a new account. */
const NEW_ACCOUNT = {
  first_name: SHORT,
  last_name: SHORT,
  name: SHORT,
  username: SHORT,
  phone: SHORT,
  email: ADDRESS,
  password: PASSWORD,
} as const;
const signedIn = { 401: refused('No valid bearer token') };

/**
 * The account routes. The guard `session` needs a bearer token; `user` also accepts a key that acts
 * for a user.
 */
const accountRoutes = [
  {
    id: 'login',
    method: 'POST',
    path: '/api/auth/login',
    access: 'public',
    tag,
    summary:
      'Sign in with an email and a password; with a password alone, as the operator of the hosting server',
    body: {
      kind: 'json',
      schema: object({ email: ADDRESS, password: PASSWORD, code: OPTIONAL_TOKEN, ...CLIENT }),
    },
    responses: {
      200: ok('The login object', LOGIN),
      ...step,
      400: refused('A field is missing'),
      401: refused('Wrong credentials'),
      403: refused('Refused after a correct password'),
      423: refused('Account locked'),
      429: refused('Rate limit exceeded'),
      503: refused('Too many logins at once'),
    },
  },
  {
    id: 'register',
    method: 'POST',
    path: '/api/auth/register',
    access: 'public',
    tag,
    summary: 'Make an account and sign in',
    body: {
      kind: 'json',
      schema: object({ ...NEW_ACCOUNT, invitation: TOKEN }, ['email', 'password']),
    },
    responses: {
      201: ok('The login object', LOGIN),
      202: ok('Accepted; the rest is in the mail. Or a second factor is to be enrolled', {
        anyOf: [MESSAGE, STEP],
      }),
      400: refused('A field or the password is not acceptable'),
      409: refused('User already exists'),
      429: refused('Rate limit exceeded'),
    },
  },
  {
    id: 'setup',
    method: 'POST',
    path: '/api/auth/setup',
    access: 'public',
    tag,
    summary:
      'Become the first administrator, with the token that the start printed or SETUP_TOKEN: with a new account, or with a bearer token as the one who is signed in',
    security: ['bearer'],
    body: {
      kind: 'json',
      schema: object({ token: TOKEN, ...NEW_ACCOUNT }, ['token']),
    },
    responses: {
      200: ok('The login object of the one who was signed in', LOGIN),
      201: ok('The login object of the new account', LOGIN),
      ...step,
      400: refused('Invalid or expired token, or a field that is not acceptable'),
      404: refused('No role is the first'),
      409: refused('User already exists'),
      429: refused('Rate limit exceeded'),
    },
  },
  {
    id: 'verifyEmail',
    method: 'POST',
    path: '/api/auth/verify-email',
    access: 'public',
    tag,
    summary:
      'Prove an address with the token from the mail: from the session or browser that registered it, with the password, or with a new one',
    security: ['bearer'],
    body: {
      kind: 'json',
      schema: object({
        token: OPTIONAL_TOKEN,
        ticket: OPTIONAL_TOKEN,
        password: PASSWORD,
        new_password: PASSWORD,
      }),
    },
    responses: {
      ...done,
      202: ok('The password is left to give, or a new one; nothing has changed yet', CONFIRM),
      400: refused('Invalid or expired token'),
      401: refused('Wrong password'),
      423: refused('Account locked'),
    },
  },
  {
    id: 'resendVerification',
    method: 'POST',
    path: '/api/auth/resend-verification',
    access: 'public',
    tag,
    summary: 'Send the verification mail again',
    body: { kind: 'json', schema: object({ email: ADDRESS }, ['email']) },
    responses: done,
  },
  {
    id: 'refresh',
    method: 'POST',
    path: '/api/auth/refresh',
    access: 'public',
    tag,
    summary: 'A new access token for a refresh token, which is replaced',
    body: {
      kind: 'json',
      optional: true,
      schema: object({ refreshToken: OPTIONAL_TOKEN, ...CLIENT }),
    },
    responses: {
      200: ok('The login object', LOGIN),
      401: refused('Invalid refresh token'),
      403: refused('A page of another origin sent the cookie'),
    },
  },
  {
    id: 'logout',
    method: 'POST',
    path: '/api/auth/logout',
    access: 'public',
    tag,
    summary: 'End the session; doing it twice is fine',
    body: {
      kind: 'json',
      optional: true,
      schema: object({ refreshToken: OPTIONAL_TOKEN, ...CLIENT }),
    },
    responses: { ...done, ...signedIn },
  },
  {
    id: 'logoutAll',
    method: 'POST',
    path: '/api/auth/logout-all',
    access: 'proof',
    tag,
    summary: 'End every session',
    body: { kind: 'json', optional: true, schema: object({ keep_current: { type: 'boolean' } }) },
    responses: {
      200: ok('How many ended', object({ message: SHORT, revoked: { type: 'integer' } })),
      ...signedIn,
    },
  },
  {
    id: 'sessions',
    method: 'GET',
    path: '/api/auth/sessions',
    access: 'session',
    tag,
    summary: 'Own live sessions',
    responses: { 200: ok('The sessions', SESSIONS), ...signedIn },
  },
  {
    id: 'renameSession',
    method: 'PATCH',
    path: '/api/auth/sessions/:id',
    access: 'session',
    tag,
    summary: "Name one session of one's own; an empty name clears it",
    body: { kind: 'json', schema: object({ name: SHORT }, ['name']) },
    responses: {
      200: ok('The session', SESSION),
      404: refused('Session not found'),
      ...signedIn,
    },
  },
  {
    id: 'endSession',
    method: 'DELETE',
    path: '/api/auth/sessions/:id',
    access: 'session',
    tag,
    summary: "End one session of one's own",
    responses: { 204: ok('Ended', undefined), 404: refused('Session not found'), ...signedIn },
  },
  {
    id: 'me',
    method: 'GET',
    path: '/api/auth/me',
    access: 'user',
    tag,
    summary: 'The signed-in user',
    responses: { 200: ok('The user', USER), 404: refused('User not found'), ...signedIn },
  },
  {
    id: 'updateMe',
    method: 'PATCH',
    path: '/api/auth/me',
    access: 'session',
    tag,
    summary: 'Change the data about oneself; phone and username need a recent proof',
    body: { kind: 'json', schema: OWN_FIELDS },
    responses: {
      200: ok('The user', USER),
      400: refused('A field is unknown or not acceptable'),
      403: refused('Reauthentication required'),
      409: refused('User already exists'),
      429: refused('Rate limit exceeded'),
      ...signedIn,
    },
  },
  {
    id: 'deleteMe',
    method: 'DELETE',
    path: '/api/auth/me',
    access: 'proof',
    tag,
    summary: "Delete one's own account: closed at once, gone after the grace",
    responses: {
      200: ok('When it goes', object({ deletion_at: TIME })),
      403: refused('Reauthentication required'),
      404: refused('Not found: the manifest has it off'),
      409: refused('Cannot remove the last owner'),
      503: refused('Mail is not set up'),
      ...signedIn,
    },
  },
  {
    id: 'restore',
    method: 'POST',
    path: '/api/auth/restore',
    access: 'public',
    tag,
    summary: 'Restore a deleted account with the token from the mail',
    body: { kind: 'json', schema: object({ token: TOKEN }, ['token']) },
    responses: { ...done, 400: refused('Invalid or expired token') },
  },
  {
    id: 'exportMe',
    method: 'GET',
    path: '/api/auth/me/export',
    access: 'proof',
    tag,
    summary: 'All data about oneself as one JSON file',
    responses: {
      200: ok('The file', EXPORT),
      403: refused('Reauthentication required'),
      503: refused('Too many exports at once'),
      ...signedIn,
    },
  },
  {
    id: 'security',
    method: 'GET',
    path: '/api/auth/security',
    access: 'session',
    tag,
    summary: 'What signs in to the account, as counts, and what is pending',
    responses: { 200: ok('The state', SECURITY), ...signedIn },
  },
  {
    id: 'reauthenticate',
    method: 'POST',
    path: '/api/auth/reauthenticate',
    access: 'session',
    tag,
    summary:
      'Prove the password or a passkey again, for five minutes; the session goes on under new tokens',
    body: {
      kind: 'json',
      optional: true,
      schema: object({
        password: PASSWORD,
        credential: CREDENTIAL,
      }),
    },
    responses: {
      200: ok('The login object, and until when', REAUTHENTICATED),
      202: ok('A second factor, or the code of a mail for a user without a password', STEP),
      401: refused('Invalid credentials'),
    },
  },
  {
    id: 'changeEmail',
    method: 'POST',
    path: '/api/auth/change-email',
    access: 'session',
    tag,
    summary: 'Ask for another address; it holds once its link was followed',
    body: { kind: 'json', schema: object({ email: ADDRESS }, ['email']) },
    responses: {
      ...done,
      403: refused('Reauthentication required'),
    },
  },
  {
    id: 'changePassword',
    method: 'POST',
    path: '/api/auth/change-password',
    access: 'public',
    security: ['bearer'],
    tag,
    summary: 'Another password; other sessions, API keys and foreign identities end',
    body: {
      kind: 'json',
      schema: object(
        {
          ticket: TOKEN,
          current_password: PASSWORD,
          new_password: PASSWORD,
          keep: {
            type: 'array',
            items: { type: 'string', enum: ['api_keys', 'identities'] },
            maxItems: 2,
            description: 'What goes on; everything else that signs in ends, except this session',
          },
        },
        ['new_password'],
      ),
    },
    responses: {
      200: ok('Done; with a ticket the login object', { anyOf: [MESSAGE, LOGIN] }),
      ...step,
      400: refused('The new password is not acceptable'),
      401: refused('Invalid credentials'),
    },
  },
  {
    id: 'passwordPolicy',
    method: 'GET',
    path: '/api/auth/password-policy',
    access: 'public',
    tag,
    summary: 'What a password has to be',
    responses: {
      200: ok(
        'The rules',
        object({
          min: { type: 'integer' },
          max: { type: 'integer' },
          score: { type: 'integer' },
          composition: { type: 'boolean' },
        }),
      ),
    },
  },
  {
    id: 'passwordStrength',
    method: 'POST',
    path: '/api/auth/password-strength',
    access: 'public',
    tag,
    summary: 'How good a password is, before it is sent',
    body: { kind: 'json', schema: object({ password: PASSWORD }, ['password']) },
    responses: {
      200: ok(
        'Its score from 0 to 4',
        object({ score: { type: 'integer' }, acceptable: { type: 'boolean' }, reason: SHORT }),
      ),
    },
  },
  {
    id: 'forgotPassword',
    method: 'POST',
    path: '/api/auth/forgot-password',
    access: 'public',
    tag,
    summary: 'Ask for a mail that resets the password',
    body: { kind: 'json', schema: object({ email: ADDRESS }, ['email']) },
    responses: { ...done, 503: refused('Mail is not set up') },
  },
  {
    id: 'resetPassword',
    method: 'POST',
    path: '/api/auth/reset-password',
    access: 'public',
    tag,
    summary: 'Set a password with the token from the mail',
    body: {
      kind: 'json',
      schema: object({ token: TOKEN, new_password: PASSWORD, email: ADDRESS }, [
        'token',
        'new_password',
      ]),
    },
    responses: {
      ...done,
      202: ok('A second factor is asked for; nothing has changed yet', STEP),
      400: refused('Invalid or expired token, or a password that is not acceptable'),
    },
  },
  {
    id: 'unlock',
    method: 'POST',
    path: '/api/auth/unlock',
    access: 'public',
    tag,
    summary: 'Unlock an account with the token from the mail',
    body: { kind: 'json', schema: object({ token: TOKEN }, ['token']) },
    responses: { ...done, 400: refused('Invalid or expired token') },
  },
  {
    id: 'createOwnKey',
    method: 'POST',
    path: '/api/auth/api-keys',
    access: 'session',
    tag,
    summary: 'Make an API key that acts for oneself; the key is shown once',
    body: {
      kind: 'json',
      schema: object(
        {
          name: SHORT,
          scopes: NAMES,
          expires_in: DURATION,
          organization_id: {
            ...ID,
            description: "Binds the key to this one of the user's organizations",
          },
        },
        ['name', 'scopes'],
      ),
    },
    responses: {
      201: ok('The key', API_KEY),
      403: refused('Reauthentication required'),
      404: refused('Organization not found'),
      ...signedIn,
    },
  },
  {
    id: 'ownKeys',
    method: 'GET',
    path: '/api/auth/api-keys',
    access: 'session',
    tag,
    summary: 'Live API keys that act for oneself, without their secrets',
    responses: { 200: ok('The keys', OWN_KEYS), ...signedIn },
  },
  {
    id: 'renameOwnKey',
    method: 'PATCH',
    path: '/api/auth/api-keys/:id',
    access: 'session',
    tag,
    summary: "Give an API key of one's own another name",
    body: { kind: 'json', schema: object({ name: SHORT }, ['name']) },
    responses: {
      200: ok('The key', OWN_KEY),
      404: refused('API key not found'),
      ...signedIn,
    },
  },
  {
    id: 'revokeOwnKey',
    method: 'DELETE',
    path: '/api/auth/api-keys/:id',
    access: 'session',
    tag,
    summary: "Revoke an API key of one's own",
    responses: { 204: ok('Revoked', undefined), 404: refused('API key not found'), ...signedIn },
  },
  {
    id: 'link',
    method: 'POST',
    path: '/api/auth/link',
    access: 'session',
    tag,
    summary: 'Start linking a provider to the signed-in account',
    body: { kind: 'json', schema: object({ provider: SHORT }, ['provider']) },
    responses: {
      200: ok('Where to go', object({ url: SHORT })),
      404: refused('OAuth provider not configured'),
    },
  },
  {
    id: 'identities',
    method: 'GET',
    path: '/api/auth/identities',
    access: 'session',
    tag,
    summary: 'Linked providers',
    responses: {
      200: ok(
        'The identities',
        object({
          identities: {
            type: 'array',
            items: object({
              provider: SHORT,
              email: { type: ['string', 'null'] },
              created_at: TIME,
              last_login_at: TIME,
            }),
          },
          total: { type: 'integer' },
        }),
      ),
      ...signedIn,
    },
  },
  {
    id: 'unlink',
    method: 'DELETE',
    path: '/api/auth/identities/:provider',
    access: 'session',
    tag,
    summary: 'Unlink a provider',
    responses: {
      204: ok('Unlinked', undefined),
      404: refused('Not found'),
      409: refused('Cannot remove the last sign-in method'),
    },
  },
] as const satisfies readonly RouteSpec[];

/**
 * Parameters of an OAuth flow. `link` is the ticket of the user who links a provider to their
 * account.
 */
const FLOW = { return_to: SHORT, link: SHORT, code_challenge: CODE_CHALLENGE } as const;

/** What a provider sends back; `user` is text with the name, the first time alone. */
const RETURN = Object.fromEntries(
  ['state', 'code', 'error', 'error_description', 'iss', 'user'].map((name) => [
    name,
    { type: 'string' },
  ]),
);

/** Sign-in through a provider: authorization code with PKCE (RFC 6749, RFC 7636, RFC 9207). */
const oauthRoutes = [
  {
    id: 'oauthStart',
    method: 'GET',
    path: '/api/oauth/:provider',
    access: 'public',
    tag,
    summary: 'Go to the provider',
    query: FLOW,
    responses: {
      302: ok('To the provider', undefined),
      400: refused('Invalid redirect'),
      401: refused('API key required'),
      404: refused('OAuth provider not configured'),
    },
  },
  {
    id: 'oauthCallback',
    method: 'GET',
    path: '/api/oauth/:provider/callback',
    access: 'public',
    tag,
    summary: 'Where the provider sends people back to',
    responses: {
      200: ok('The login object', LOGIN),
      ...step,
      303: ok('Back to the application, with a code to exchange', undefined),
      400: refused('Invalid OAuth state'),
      401: refused('OAuth access denied'),
      409: refused('Account exists; sign in to link this provider'),
      502: refused('OAuth provider error'),
    },
  },
  {
    id: 'oauthIdToken',
    method: 'POST',
    path: '/api/oauth/:provider/callback',
    access: 'public',
    tag,
    summary:
      'Sign in with an id token of the provider, off unless the manifest says `id_token: true` of it; or come back by a form of the provider (Apple)',
    body: {
      kind: 'json',
      schema: object({ idToken: TOKEN, nonce: NONCE }, ['idToken', 'nonce']),
      form: { type: 'object', properties: RETURN },
    },
    responses: {
      200: ok('The login object', LOGIN),
      ...step,
      303: ok('Back to the application, with a code to exchange', undefined),
      400: refused('Invalid OAuth state'),
      401: refused('OAuth identity could not be verified'),
      404: refused('OAuth provider not configured'),
      409: refused('Account exists; sign in to link this provider'),
      502: refused('OAuth provider error'),
    },
  },
  {
    id: 'oauthExchange',
    method: 'POST',
    path: '/api/oauth/exchange',
    access: 'public',
    tag,
    summary:
      'The login object for the code of the redirect, in the browser that was sent back or with the code verifier',
    body: {
      kind: 'json',
      schema: object({ code: TOKEN, code_verifier: CODE_VERIFIER, ...CLIENT }, ['code']),
    },
    responses: {
      200: ok('The login object', LOGIN),
      ...step,
      400: refused('Invalid or expired token'),
      401: refused('API key required'),
    },
  },
  {
    id: 'oauthStartOfPage',
    method: 'POST',
    path: '/api/oauth/:provider',
    access: 'public',
    tag,
    summary: 'The address of the provider, for a page that sends the browser there itself',
    body: { kind: 'json', optional: true, schema: object(FLOW) },
    responses: {
      200: ok('Where to go', object({ url: { type: 'string' } })),
      400: refused('Invalid redirect'),
      401: refused('API key required'),
      404: refused('OAuth provider not configured'),
    },
  },
] as const satisfies readonly RouteSpec[];

/** Every endpoint under `/api/auth` and `/api/oauth`. */
export const authRoutes = [
  ...accountRoutes,
  ...oauthRoutes,
  ...secondFactorRoutes,
  ...passkeyRoutes,
  ...organizationRoutes,
  ...adminRoutes,
] as const satisfies readonly RouteSpec[];
