/** An endpoint that events are sent to. */
export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly types: readonly string[];
  readonly source: 'manifest' | 'admin';
  readonly created_at: string;
  readonly disabled_at: string | null;
}

/** The delivery of one event to one endpoint. */
export interface WebhookDelivery {
  readonly id: string;
  readonly event_id: string;
  readonly type: string | null;
  readonly attempt: number;
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly last_code: number | null;
  readonly last_error: string | null;
  readonly created_at: string;
  readonly next_at: string | null;
}

export const WEBHOOKS = '/api/auth/admin/webhooks';

export const pathOf = ({ id }: Webhook): string => `${WEBHOOKS}/${encodeURIComponent(id)}`;
