/** Whether this is a build on sample data, without the app behind it. */
declare const __SAMPLES__: boolean;
