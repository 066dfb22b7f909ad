/** The parts of a schema that the pages use. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  enum?: (string | number | null)[];
  const?: unknown;
  format?: string;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

interface Content {
  description: string;
  content?: Record<string, { schema: Schema }>;
}

/** An API operation. */
export interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  security?: Record<string, unknown>[];
  parameters?: {
    name: string;
    in: string;
    required?: boolean;
    description?: string;
    schema: Schema;
  }[];
  requestBody?: Omit<Content, 'description'>;
  responses: Record<string, Content>;
}

/** The parts of the OpenAPI document that the pages use. */
export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}
