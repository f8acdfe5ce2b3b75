import type { IsOwn } from '@twofold/schema';
import type { Resolvers } from '../plugin.ts';

/** Tells the OpenAPI document whether the user's own resolver answers a root field. */
export const ownsIn =
  (resolvers: Resolvers): IsOwn =>
  (coordinate) => {
    const [type = '', field = ''] = coordinate.split('.');
    return resolvers[type]?.[field] !== undefined;
  };
