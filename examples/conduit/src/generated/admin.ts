// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import { runAdmin } from '@twofold/auth';
import { app } from './app.ts';

await runAdmin(app);
