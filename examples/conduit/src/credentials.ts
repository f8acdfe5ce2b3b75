import type * as types from './generated/types.ts';

/** Conduit sends an access token as `Authorization: Token …`. */
export const credentials: types.Credentials = [
  ({ headers }, ctx) => {
    const [scheme, token] = String(headers['authorization'] ?? '').split(' ');
    return scheme === 'Token' ? ctx.auth.verify(token ?? '') : undefined;
  },
];
