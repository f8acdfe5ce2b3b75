import {
  ADDRESS,
  CLIENT,
  CONFIRMED,
  CREDENTIAL,
  DEVICE,
  ERROR,
  LOGIN,
  object,
  OPTIONAL_TOKEN,
  RECOVERY_CODES,
  SHORT,
  STEP,
  TOKEN,
} from './route-shapes.ts';
import type { JsonSchema, RouteSpec } from '../routes/route.ts';

const tag = 'auth';
const ok = (description: string, schema?: JsonSchema) => ({
  description,
  ...(schema && { schema }),
});
const refused = (description: string) => ({ description, schema: ERROR });
const signedIn = { 401: refused('No valid bearer token') };
/** A bearer token, or the ticket of a sign-in in the body. */
const byTicket = { access: 'public', security: ['bearer'], tag } as const;
const unproven = {
  400: refused('Invalid or expired token'),
  403: refused('Reauthentication required'),
};
const withTicket = { ticket: TOKEN } as const;

/** Second factors, remembered devices, and sign-in by mail. */
export const secondFactorRoutes = [
  {
    id: 'secondFactor',
    method: 'POST',
    path: '/api/auth/second-factor',
    access: 'public',
    tag,
    summary: 'Answer the step of a sign-in with a code, a recovery code or a passkey',
    body: {
      kind: 'json',
      schema: object(
        {
          ticket: TOKEN,
          code: SHORT,
          recovery_code: SHORT,
          credential: CREDENTIAL,
          remember_device: { type: 'boolean' },
          ...CLIENT,
        },
        ['ticket'],
      ),
    },
    responses: {
      200: ok('What the first request would have answered', LOGIN),
      202: ok('Another step is left', STEP),
      400: refused('Invalid or expired token'),
      401: refused('Invalid code'),
      423: refused('Account locked'),
      429: refused('Rate limit exceeded'),
    },
  },
  {
    id: 'startTotp',
    method: 'POST',
    path: '/api/auth/totp',
    ...byTicket,
    summary: 'A new TOTP secret; it has no effect before it is confirmed',
    body: { kind: 'json', optional: true, schema: object(withTicket) },
    responses: {
      200: ok(
        'The secret in Base32, as an address for apps, and as a QR code (an SVG as data URL)',
        object({
          secret: { type: 'string' },
          otpauth_url: { type: 'string' },
          qr: { type: 'string' },
        }),
      ),
      ...unproven,
      ...signedIn,
    },
  },
  {
    id: 'confirmTotp',
    method: 'POST',
    path: '/api/auth/totp/confirm',
    ...byTicket,
    summary: 'Switch TOTP on with a code of the new secret; other sessions end',
    body: { kind: 'json', schema: object({ code: SHORT, ...withTicket }, ['code']) },
    responses: {
      200: ok('Ten recovery codes', CONFIRMED),
      202: ok('Another step is left', STEP),
      ...unproven,
      401: refused('Invalid code, or no valid bearer token'),
      429: refused('Rate limit exceeded'),
    },
  },
  {
    id: 'removeTotp',
    method: 'DELETE',
    path: '/api/auth/totp',
    access: 'proof',
    tag,
    summary: 'Switch TOTP off',
    responses: {
      204: ok('Off'),
      403: refused('Reauthentication required, or a second factor is required'),
      404: refused('It is off'),
      ...signedIn,
    },
  },
  {
    id: 'createRecoveryCodes',
    method: 'POST',
    path: '/api/auth/recovery-codes',
    ...byTicket,
    summary: 'Ten new recovery codes; the old ones are void',
    body: { kind: 'json', optional: true, schema: object(withTicket) },
    responses: {
      200: ok('The codes', RECOVERY_CODES),
      ...unproven,
      ...signedIn,
      429: refused('Rate limit exceeded'),
    },
  },
  {
    id: 'devices',
    method: 'GET',
    path: '/api/auth/devices',
    access: 'session',
    tag,
    summary: 'Own devices that need no second factor',
    responses: {
      200: ok(
        'The devices',
        object({ devices: { type: 'array', items: DEVICE }, total: { type: 'integer' } }),
      ),
      ...signedIn,
    },
  },
  {
    id: 'renameDevice',
    method: 'PATCH',
    path: '/api/auth/devices/:id',
    access: 'session',
    tag,
    summary: 'Give a remembered device another name',
    body: { kind: 'json', schema: object({ name: SHORT }, ['name']) },
    responses: { 200: ok('The device', DEVICE), 404: refused('Device not found'), ...signedIn },
  },
  {
    id: 'forgetDevice',
    method: 'DELETE',
    path: '/api/auth/devices/:id',
    access: 'session',
    tag,
    summary: 'Forget a device; it needs a second factor again',
    responses: { 204: ok('Forgotten'), 404: refused('Device not found'), ...signedIn },
  },
  {
    id: 'emailSignIn',
    method: 'POST',
    path: '/api/auth/email-sign-in',
    access: 'public',
    tag,
    summary: 'Ask for a mail that signs in, with a link, a code or both',
    body: { kind: 'json', schema: object({ email: ADDRESS, return_to: SHORT }, ['email']) },
    responses: {
      200: ok(
        'The same for an address that no account has',
        object({ ticket: { type: 'string' }, expires_in: { type: 'integer' } }),
      ),
      400: refused('Invalid redirect'),
      429: refused('Rate limit exceeded'),
      503: refused('Mail is not set up'),
    },
  },
  {
    id: 'completeEmailSignIn',
    method: 'POST',
    path: '/api/auth/email-sign-in/complete',
    access: 'public',
    tag,
    summary: 'Sign in with the link or the code of the mail, in the browser that asked for it',
    body: {
      kind: 'json',
      schema: object({ token: TOKEN, code: SHORT, ticket: OPTIONAL_TOKEN, ...CLIENT }),
    },
    responses: {
      200: ok('The login object', LOGIN),
      202: ok('A step is left', STEP),
      400: refused('Invalid or expired token'),
      403: refused('Account disabled'),
      423: refused('Account locked'),
      429: refused('Rate limit exceeded'),
    },
  },
] as const satisfies readonly RouteSpec[];
