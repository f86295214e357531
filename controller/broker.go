package controller

// Broker is one registered broker; immutable once published.
type Broker struct {
	ID int32
	// Incarnation is the process that is registered: a new one with every start.
	Incarnation UUID
	// Epoch is the log index of the registration: rises with each.
	Epoch     int64
	Rack      string // "" if none
	Endpoints []Endpoint
	// Fenced brokers get no new replicas and lead nothing.
	Fenced bool
}

// Endpoint is where clients reach a broker on one of its listeners.
type Endpoint struct {
	Listener string
	Host     string
	Port     int32
	// Protocol is Kafka's number: 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL.
	Protocol int16
}

// Endpoint returns the broker's endpoint on a listener.
func (b *Broker) Endpoint(listener string) (Endpoint, bool) {
	for _, e := range b.Endpoints {
		if e.Listener == listener {
			return e, true
		}
	}
	return Endpoint{}, false
}
