import { articleRoutes } from './article-routes.ts';
import { conduitErrors } from './errors.ts';
import type * as types from './generated/types.ts';
import { userRoutes } from './user-routes.ts';

/** The API of RealWorld's "Conduit", https://docs.realworld.show */
export const routes: types.Routes = (router) => {
  router.use(conduitErrors);
  userRoutes(router);
  articleRoutes(router);
};
