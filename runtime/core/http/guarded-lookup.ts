import { lookup as resolve } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPrivateAddress } from './private-address.ts';

/**
 * Resolves names to public addresses only, for requests to addresses that users name. It runs when
 * the socket is opened, so that DNS rebinding cannot reach a private address.
 */
export const guardedLookup: LookupFunction = (hostname, options, done) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return done(error, '', 4);
    const open = addresses.filter(({ address }) => !isPrivateAddress(address));
    const [first] = open;
    if (!first) return done(Object.assign(new TypeError(REFUSED), { code: REFUSED }), '', 4);
    if (options.all) return done(null, open as never, 4);
    done(null, first.address, first.family);
  });
};

const REFUSED = 'private address';
