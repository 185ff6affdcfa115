"""The words of the field: metrics, scenarios, hardware, frameworks, deployments."""
