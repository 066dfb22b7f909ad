import Type from 'typebox';
import { named, oneOf, strictObject } from './common.ts';

/** The HTTP status for each problem `code`. */
export const problemStatus = {
  malformed_json: 400,
  malformed_request: 400,
  invalid_request: 422,
  simulate_in_live: 400,
  authentication_required: 401,
  key_malformed: 401,
  key_unknown: 401,
  key_revoked: 401,
  sign_in_failed: 401,
  code_required: 401,
  account_required: 401,
  key_not_permitted: 403,
  role_not_permitted: 403,
  confirmation_required: 403,
  csrf_failed: 403,
  secret_key_in_browser: 403,
  origin_not_allowed: 403,
  token_invalid: 403,
  environment_mismatch: 403,
  frame_required: 403,
  identity_required: 403,
  not_found: 404,
  placement_not_found: 404,
  decision_gone: 410,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  idempotency_key_reused: 409,
  request_in_progress: 409,
  quota_exceeded: 409,
  precondition_failed: 412,
  body_too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  precondition_required: 428,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  simulated_error: 500,
  overloaded: 503,
  unavailable: 503,
} as const;

export const problemSchema = named('Problem', 'An error (RFC 9457).', {
  type: Type.String({ format: 'uri-reference' }),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String(),
  code: oneOf(Object.keys(problemStatus)),
  request_id: Type.String(),
  errors: Type.Optional(
    Type.Array(
      strictObject({
        pointer: Type.String({ description: 'A JSON Pointer (RFC 6901) to the field.' }),
        message: Type.String(),
      }),
    ),
  ),
});
