import { namedRoutes } from '../routes/described-route.ts';

/** The endpoints for language models by name; `runtime/models/flows` describes each. */
export const modelRoutes = namedRoutes('models', [
  'GET /api/mlx/models',
  'GET /api/mlx/models/:id',
  'GET /api/mlx/models/:org/:name',
  'POST /api/mlx/models/:id/download',
  'POST /api/mlx/models/:org/:name/download',
  'DELETE /api/mlx/models/:id/download',
  'DELETE /api/mlx/models/:org/:name/download',
  'DELETE /api/mlx/models/:id',
  'DELETE /api/mlx/models/:org/:name',
  'POST /api/mlx/pull',
  'POST /api/mlx/start',
  'POST /api/mlx/run',
  'POST /api/mlx/stop',
  'POST /api/mlx/keys',
  'GET /api/mlx/keys',
  'PATCH /api/mlx/keys/:id',
  'DELETE /api/mlx/keys/:id',
  'GET /api/mlx/usage',
  'GET /api/mlx/v1/*path',
  'POST /api/mlx/v1/*path',
]);
